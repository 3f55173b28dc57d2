"""The parts of tools/gpu that need nothing but the program, and the peers: names, commands, limits of time.

tools/gpu runs them from a checkout; the archive that `tools/gpu --bundle` packs has them as a table, which
its script `run` reads. Words of a command may have {frazil}, {out}, {python} and {peers}, the folder of the
peers' scripts.
"""

import collections
import re
import subprocess

# `limit_s`: where all parts share ten minutes. `requires`: modules that {python} must have. `only`: kind of
# device, "gpu" or "software", "" for both.
Part = collections.namedtuple(
    "Part", "name command environment folder limit_s requires only", defaults=({}, None, 60, (), "")
)

# A built-in scene of each solver, and what makes it small, a hundred thousand and a million particles large.
Scene = collections.namedtuple("Scene", "name small hundred_thousand million")
SCENES = {
    "water": Scene("dam_break", ["scale=0.5"], ["scale=2.9"], ["scale=6"]),
    "snow": Scene("melting", ["scale=0.3"], ["scale=1.1"], ["scale=2.4"]),
    "viscoelastic": Scene("dough", ["scale=0.5"], ["scale=3.3"], ["scale=7"]),
    "mpm": Scene("snowballs_3d", ["scale=0.3"], ["scale=1.15"], ["scale=2.4"]),
    "dem": Scene("avalanche_1m", ["scale=0.1"], ["scale=0.45"], []),
}
# Benches to read beside copy bandwidth, at sizes for which a GPU takes longer than for a launch.
PRIMITIVES = ("device.", "primitives.", "grid.cell_")
LARGE = "count=1048583,16777259"
# An element is 98 304 operations, which the verification repeats on the processor.
OWN_SIZES = ("device.flops",)
# Benches whose results are verified by steps on the processor, which take minutes at their larger sizes.
SLOW = ("pbd.step", "snow.step", "viscoelastic.step", "mpm.step", "dem.step")
# Scenes and cases that take seconds on a software device, too.
QUICK_CASES = ["bits.snowball_collision", "free_fall.grains", "twin.primitives.reduction"]
QUICK_SCENES = ["bits.snowball_collision", "bits.column_collapse"]


class Mismatch(Exception):
    """The program's list of benches is not as expected."""


def benches_of(frazil):
    """Returns the program's benches: values of each axis, by id and axis."""
    listed = subprocess.run([frazil, "bench", "--list"], capture_output=True, text=True)
    found = {}
    for line in listed.stdout.splitlines():
        axis = re.match(r" +--axis (\w+)=(\S+)", line)
        if axis and found:
            next(reversed(found.values()))[axis[1]] = axis[2].split(",")
        elif re.match(r"\S+$", line):
            found[line] = {}
    if "device.copy" not in found:
        raise Mismatch(f"{frazil} bench --list: found no device.copy, expected one: {listed.stderr.strip()}")
    return found


def validation(name, cases, limit_s, environment=None):
    command = ["{frazil}", "validate", *cases, "--out", f"{{out}}/details/{name}"]
    return Part(name, command, environment or {}, limit_s=limit_s)


def bench(name, axes, quick, limit_s):
    sizes = ["--smoke"] if quick else [word for axis in axes for word in ("--axis", axis)]
    command = ["{frazil}", "bench", name, "--out", "{out}/bench.jsonl", *sizes]
    return Part(f"bench.{name}", command, limit_s=limit_s)


def large(name, axes):
    """Returns the axes of a primitive beside copy bandwidth, without its variants on the processor."""
    if name in OWN_SIZES:
        return []
    variants = [name for name in axes.get("variant", []) if not name.startswith("cpu_")]
    return [LARGE, *(["variant=" + ",".join(variants)] if variants else [])]


def changes(keys):
    return [word for key in keys for word in ("--set", key)]


def sizes_of(scene, quick):
    """Returns the changes of a scene by the name of its size."""
    return {"small": scene.small} if quick else {"1e5": scene.hundred_thousand, "1e6": scene.million}


def steps(quick):
    """Yields the times of steps of each solver, without the time stamps of a profile."""
    n_steps = "8" if quick else "200"
    # Metrics at the end only.
    outputs = ["--render", "never", "--record", "never", "--metrics", n_steps, "--quiet"]
    for size in sizes_of(SCENES["water"], quick):
        for solver, scene in SCENES.items():
            name = f"step.{solver}.{size}"
            keys = changes(sizes_of(scene, quick)[size])
            command = ["{frazil}", "run", scene.name, *keys, "--steps", n_steps, *outputs]
            yield Part(name, [*command, "--out", f"{{out}}/details/{name}"])


def profiles(quick):
    """Yields profiles of each solver, and their predictions."""
    shorter = ["--steps", "3", "--warm-up", "1"] if quick else []
    for solver, scene in SCENES.items():
        sizes = {"small": scene.small} if quick else {"": [], "large": scene.million}
        if not quick and not scene.million:
            sizes.pop("")  # It is large as it is.
        for size, keys in sizes.items():
            name = ".".join(filter(None, ["profile", solver, size]))
            command = ["{frazil}", "profile", scene.name, *changes(keys), *shorter]
            yield Part(name, [*command, "--out", f"{{out}}/details/{name}"])
            # By the rates that the profile has measured, beside its times.
            predicted = ["{frazil}", "predict", f"{{out}}/details/{name}", "--here"]
            yield Part(name.replace("profile", "predict", 1), predicted)


def peers(quick):
    """Yields comparisons with peers that have a GPU version; others have no comparable wheel."""
    small = ["--rounds", "1", "--steps", "4"] if quick else []
    backends = {"cuda": "numpy taichi warp", "vulkan": "numpy taichi", "cpu": "numpy taichi warp"}
    for backend, requires in backends.items():
        command = ["{python}", "{peers}/compare.py", "--frazil", "{frazil}", "--backend", backend]
        command += ["--out", "{out}/peers.jsonl", *small, "mpm"]
        only = "software" if backend == "cpu" else "gpu"
        yield Part(f"peers.mpm.{backend}", command, limit_s=180, requires=requires.split(), only=only)


def shared_parts(benches, quick):
    """Returns the parts in order of worth, for benches as `benches_of` returns them."""
    # A filter measures every bench whose id contains it.
    ids = [name for name in benches if not any(other != name and other in name for other in benches)]
    primitives = [name for name in ids if name.startswith(PRIMITIVES)]
    slow = [name for name in ids if name.startswith(SLOW)]
    others = [name for name in ids if name not in primitives and name not in slow]
    return [
        validation("validate.quick", QUICK_CASES if quick else ["--quick"], 150),
        validation("hashes", QUICK_SCENES if quick else ["bits"], 150),
        *(bench(name, large(name, benches[name]), quick, 40) for name in primitives),
        *steps(quick),
        *profiles(quick),
        *peers(quick),
        validation("layers", QUICK_SCENES if quick else ["--quick"], 300, {"FRAZIL_VALIDATION": "1"}),
        *(bench(name, [], quick, 60) for name in others),
        *(bench(name, [], quick, 600) for name in slow),
    ]
