"""Runs frazil and its peers in turn, round by round, and prints the median time of a step of each and the ratios.

Each row of out/peers.jsonl is one program in one round: comparison, program, round, milliseconds a step, particles.
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

HERE = pathlib.Path(__file__).parent
CORES = os.cpu_count() or 1


def run(command, **options):
    """Returns the output of a command; on failure ends with what it printed."""
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"peers: {' '.join(map(str, command))}: status {result.returncode}\n{result.stdout}{result.stderr}")
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


def python_peer(script, *arguments, **environment):
    """Returns the milliseconds a step and the particles that a script beside this one prints last."""
    out = run([sys.executable, HERE / script, *arguments], env={**os.environ, **environment}, cwd=HERE)
    result = json.loads(out.strip().splitlines()[-1])
    return result["ms"], result["count"]


def splishsplash():
    # The wheel bundles a libGLdispatch that clashes with that of the system.
    system = pathlib.Path("/lib/x86_64-linux-gnu/libGLdispatch.so.0")
    preload = {"LD_PRELOAD": str(system)} if system.exists() else {}
    return python_peer("fluid_splishsplash.py", 40, OMP_NUM_THREADS=str(CORES), **preload)


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


def main():
    names = ["fluid", "mpm", "grains"]
    parser = argparse.ArgumentParser(prog="tools/peers")
    parser.add_argument("--frazil", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which all programs take turns (5)")
    parser.add_argument("--settle", type=int, default=6000, help="steps before the bed of grains is timed (6000)")
    parser.add_argument("--out", default="out/peers.jsonl", help="file to which a row a measurement is appended")
    parser.add_argument("what", nargs="*", metavar="|".join(names), help="comparisons (all)")
    options = parser.parse_args()
    if unknown := [name for name in options.what if name not in names]:
        parser.error(f"found comparison {unknown[0]!r}, expected {', '.join(names)}")
    if options.rounds < 1 or options.settle < 1:
        parser.error("expected at least one round and one step to settle")
    frazil = options.frazil
    out = pathlib.Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for what in options.what or names:
            programs = {
                "fluid": lambda: {
                    "frazil": lambda: frazil_step_ms(frazil, "fluid", 40, 8),
                    "SPlisHSPlasH PBF": splishsplash,
                },
                "mpm": lambda: {
                    "frazil": lambda: frazil_step_ms(frazil, "mpm", 40, 8),
                    "Taichi": lambda: python_peer("mpm_taichi.py", 40, CORES),
                    "Warp (one core)": lambda: python_peer("mpm_warp.py", 40),
                },
                "grains": lambda: grains(frazil, pathlib.Path(folder), options.settle),
            }[what]()
            times = {name: [] for name in programs}
            for turn in range(options.rounds):
                for name, measure in programs.items():
                    ms, count = measure()
                    times[name].append(ms)
                    row = {"comparison": what, "program": name, "round": turn, "ms_per_step": ms, "particles": count}
                    with open(out, "a") as rows:
                        rows.write(json.dumps(row) + "\n")
            own = times["frazil"]
            print(f"{what}, {count} particles, median of {options.rounds} rounds")
            for name, all_ms in times.items():
                ratio = statistics.median(a / b for a, b in zip(own, all_ms))
                beside = "" if name == "frazil" else f"   frazil takes {ratio:.2f} times as long"
                print(f"  {name:<18} {statistics.median(all_ms):9.1f} ms a step{beside}", flush=True)


main()
