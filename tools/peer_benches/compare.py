"""Runs frazil and its peers in turn, round by round, and prints the median time of a step of each and the ratios.

Each row of out/peers.jsonl is one program in one round: comparison, program, round, milliseconds a step or of the
whole, particles.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).parent
CORES = os.cpu_count() or 1
# Key of the measured time of comparisons that have none of a step.
MEASURED = {"surface": "ms", "water": "ms"}


class Failed(Exception):
    """A program did not run to its end."""


def run(command, **options):
    """Returns the output of a command."""
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        command = " ".join(map(str, command))
        raise Failed(f"{command}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def frazil_step_ms(frazil, scene, steps, warm_up, resume=None):
    """Returns the mean milliseconds a step of a scene without pictures, metrics and recording."""
    with tempfile.TemporaryDirectory() as out:
        quiet = ["--quiet", "--render", "never", "--record", "never", "--metrics", str(warm_up + steps)]
        last = warm_up + steps
        start = []
        if resume:
            start, last = ["--resume", resume[0]], resume[1] + last
        run([frazil, "run", HERE / f"{scene}.toml", "--steps", last, "--out", out, *quiet, *start])
        with open(pathlib.Path(out) / "timing.csv") as table:
            rows = [row for row in csv.DictReader(table) if int(row["step"]) > last - steps]
        particles = json.loads((pathlib.Path(out) / "run.json").read_text())["n_particles"]
    return statistics.fmean(float(row["step_time [ms]"]) for row in rows), particles


def printed(script, *arguments, **environment):
    """Returns what a script beside this one prints last."""
    out = run([sys.executable, HERE / script, *arguments], env={**os.environ, **environment}, cwd=HERE)
    return json.loads(out.strip().splitlines()[-1])


def python_peer(script, *arguments, **environment):
    """Returns the milliseconds a step and the particles that a script beside this one prints last."""
    result = printed(script, *arguments, **environment)
    return result["ms"], result["count"]


def splishsplash_environment():
    # The wheel bundles a libGLdispatch that clashes with that of the system.
    system = pathlib.Path("/lib/x86_64-linux-gnu/libGLdispatch.so.0")
    preload = {"LD_PRELOAD": str(system)} if system.exists() else {}
    return {"OMP_NUM_THREADS": str(CORES), **preload}


def splishsplash(steps):
    return python_peer("fluid_splishsplash.py", steps, **splishsplash_environment())


def water(frazil, folder):
    """Returns the programs that simulate 1 s of a dam break, and measure the compression of their particles."""
    from compression import compression

    def measured(ms, count, steps, frames):
        if len(frames) != 10:
            raise Failed(f"found {len(frames)} frames, expected one for each 0.1 s")
        mean, worst = compression(frames, 0.035, [4.0, 3.0, 1.5])
        return ms, count, {"steps": steps, "compression_mean": mean, "compression_worst": worst}

    def own():
        with tempfile.TemporaryDirectory() as out:
            out = pathlib.Path(out)
            outputs = ["--render", "never", "--record", "0.1s", "--record-columns", "velocity", "--metrics", "1s"]
            run([frazil, "run", HERE / "water.toml", "--out", out / "run", "--quiet", *outputs])
            with open(out / "run/timing.csv") as table:
                rows = [(int(row["step"]), float(row["step_time [ms]"])) for row in csv.DictReader(table)]
            recording = out / "run/recording.frazil-rec"
            run([frazil, "export", recording, "--format", "csv", "--frames", "1..", "--out", out / "csv"])
            frames = [positions(file) for file in sorted((out / "csv").rglob("*.csv"))]
        # A row is of the steps since the row before; the first step, as of the peer, is not counted.
        ms = sum((step - before) * step_ms for (before, _), (step, step_ms) in zip(rows, rows[1:]))
        return measured(ms, len(frames[0]), rows[-1][0], frames)

    def peer():
        file = folder / "dfsph.npy"
        result = printed("water_splishsplash.py", file, **splishsplash_environment())
        return measured(result["ms"], result["count"], result["steps"], numpy.load(file))

    return {"frazil": own, "SPlisHSPlasH DFSPH": peer}


def positions(file):
    """Returns the positions of a frame that was exported as CSV."""
    with open(file) as table:
        rows = csv.DictReader(table)
        axes = [next(name for name in rows.fieldnames if name.startswith(f"position_{axis}")) for axis in "xyz"]
        return numpy.array([[float(row[axis]) for axis in axes] for row in rows])


def lammps(*variables):
    """Returns the milliseconds a step of the bed in LAMMPS on a rank a core, and the grains."""
    folder = pathlib.Path(sys.prefix)
    arguments = [word for name, value in variables for word in ("-var", name, value)]
    command = [folder / "bin/mpirun", "-np", CORES, folder / "bin/lmp", "-in", HERE / "grains_lammps.in",
               "-log", "none", *arguments]
    out = run(command, env={**os.environ, "LD_LIBRARY_PATH": str(folder / "lib"), "OMP_NUM_THREADS": "1"})
    found = re.findall(r"Loop time of ([\d.e+-]+) on \d+ procs for (\d+) steps with (\d+) atoms", out)
    seconds, steps, atoms = found[-1]
    return 1e3 * float(seconds) / int(steps), int(atoms)


def grains(frazil, folder, settle):
    """Settles both beds, and returns the programs that go on from there."""
    state, restart = folder / "frazil", folder / "lammps.restart"
    run([frazil, "run", HERE / "grains.toml", "--steps", settle, "--out", state, "--quiet", "--render", "never",
         "--record", "never", "--metrics", "never", "--checkpoint", settle])
    lammps(("is_resumed", 0), ("file", restart), ("steps", settle))
    checkpoint = max(state.rglob("*.frazil-ckpt"), default=None) or next(state.rglob("*checkpoint*"))
    return {
        "frazil": lambda: frazil_step_ms(frazil, "grains", 64, 16, (checkpoint, settle)),
        "LAMMPS": lambda: lammps(("is_resumed", 1), ("file", restart), ("steps", 100)),
    }


def mpm(frazil, backend, steps):
    """Returns the programs that time a block of snow: the peers on cores, or on the GPU by CUDA or Vulkan."""
    label = "" if backend == "cpu" else f" ({backend})"
    programs = {
        "frazil": lambda: frazil_step_ms(frazil, "mpm", steps, 8),
        f"Taichi{label}": lambda: python_peer("mpm_taichi.py", steps, CORES, backend),
        f"Warp{label or ' (one core)'}": lambda: python_peer("mpm_warp.py", steps, backend),
    }
    if backend == "vulkan":  # Warp has no such backend.
        programs.pop(f"Warp{label}")
    return programs


def surface(frazil, folder):
    """Returns the programs that find the surface around the same particles with cubes of the same size."""
    file, cube_m, repetitions = folder / "particles.f32", 0.02, 5
    run([sys.executable, HERE / "surface_block.py", file])
    program = pathlib.Path(frazil).parent / "particle_surface"

    def checked(found):
        # Levels differ: both surfaces enclose the particles' volume within a few percent.
        expected_m3 = found["count"] * (2 * 0.01) ** 3
        if abs(found["volume_m3"] / expected_m3 - 1) > 0.06:
            raise Failed(f"encloses {found['volume_m3']} m³, expected {expected_m3} within 6 %")
        return found["ms"], found["count"]

    def own():
        return checked(json.loads(run([program, file, 0.02, cube_m, repetitions])))

    def peer():
        environment = {**os.environ, "RAYON_NUM_THREADS": str(CORES)}
        command = [sys.executable, HERE / "surface_splashsurf.py", file, cube_m, repetitions]
        return checked(json.loads(run(command, env=environment, cwd=HERE)))

    return {"frazil": own, "splashsurf": peer}


def arguments():
    names = ["fluid", "water", "mpm", "grains", "surface"]
    parser = argparse.ArgumentParser(prog="tools/peers")
    parser.add_argument("--frazil", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which all programs take turns (5)")
    parser.add_argument("--settle", type=int, default=6000, help="steps before the bed of grains is timed (6000)")
    parser.add_argument("--steps", type=int, default=40, help="timed steps of fluid and mpm in a round (40)")
    parser.add_argument("--backend", choices=["cpu", "cuda", "vulkan"], default="cpu",
                        help="what Taichi and Warp run on (cpu)")
    parser.add_argument("--out", default="out/peers.jsonl", help="file to which a row a measurement is appended")
    parser.add_argument("what", nargs="*", metavar="|".join(names), help="comparisons (all)")
    options = parser.parse_args()
    if unknown := [name for name in options.what if name not in names]:
        parser.error(f"found comparison {unknown[0]!r}, expected {', '.join(names)}")
    if options.rounds < 1 or options.settle < 1 or options.steps < 1:
        parser.error("expected at least one round, one step and one step to settle")
    options.what = options.what or (names if options.backend == "cpu" else ["mpm"])
    if options.backend != "cpu" and options.what != ["mpm"]:
        parser.error(f"only mpm has peers with the backend {options.backend}")
    return options


def main():
    options = arguments()
    frazil, steps = options.frazil, options.steps
    out = pathlib.Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    failed = {}
    with tempfile.TemporaryDirectory() as folder:
        for what in options.what:
            try:
                programs = {
                    "fluid": lambda: {
                        "frazil": lambda: frazil_step_ms(frazil, "fluid", steps, 8),
                        "SPlisHSPlasH PBF": lambda: splishsplash(steps),
                    },
                    "water": lambda: water(frazil, pathlib.Path(folder)),
                    "mpm": lambda: mpm(frazil, options.backend, steps),
                    "surface": lambda: surface(frazil, pathlib.Path(folder)),
                    "grains": lambda: grains(frazil, pathlib.Path(folder), options.settle),
                }[what]()
            except Failed as problem:
                failed[what] = problem
                continue
            times = {name: [] for name in programs}
            found = {}
            counts = set()
            for turn in range(options.rounds):
                for name, measure in programs.items():
                    if f"{what}: {name}" in failed:
                        continue
                    try:
                        ms, count, *rest = measure()
                    except Failed as problem:
                        failed[f"{what}: {name}"] = problem
                        continue
                    counts.add(count)
                    times[name].append(ms)
                    found[name] = dict(*rest)
                    row = {"comparison": what, "program": name, "round": turn, MEASURED.get(what, "ms_per_step"): ms,
                           "particles": count, **found[name]}
                    with open(out, "a") as rows:
                        rows.write(json.dumps(row) + "\n")
            if len(counts) > 1:
                failed[f"{what}: number of particles"] = f"found {sorted(counts)}, expected one number"
            own = times["frazil"]
            print(f"{what}, {max(counts, default=0)} particles, median of {options.rounds} rounds")
            for name, all_ms in times.items():
                if not all_ms:
                    print(f"  {name:<18}    failed", flush=True)
                    continue
                ratios = [a / b for a, b in zip(own, all_ms)]
                beside = f"   frazil takes {statistics.median(ratios):.2f} times as long" if ratios else ""
                a_step = "" if what in MEASURED else " a step"
                beside = "" if name == "frazil" else beside
                print(f"  {name:<18} {statistics.median(all_ms):9.3f} ms{a_step}{beside}", flush=True)
                if found[name]:
                    print("    " + ", ".join(f"{key} {value:.3g}" for key, value in found[name].items()))
    for name, problem in failed.items():
        print(f"peers: {name}: {problem}", file=sys.stderr)
    sys.exit(1 if failed else 0)


main()
