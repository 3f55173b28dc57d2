"""Tests of `tools/gpu --bundle` and of the script that it packs, with a program in place of frazil.

python3 -m unittest discover --start-directory tools/gpu_bundle
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import bundle
import parts

STATES = "device,driver,scene,change,steps,hash\n"
GPU = "0: Card (R) 1 (discrete GPU, Maker 1.2 (b), Vulkan 1.3.250)\n   subgroups of 32\n"
SOFTWARE = "0: llvmpipe (LLVM 15) (software device, llvmpipe Mesa 22, Vulkan 1.3.230)\n   subgroups of 8\n"
# Stands for frazil: FAKE_DEVICES has its devices, FAKE_DRIVER the manifest that they need, HANG and FAIL the
# beginnings of the arguments of a call that never ends, not even by SIGTERM, and of one that fails.
PROGRAM = r"""#!/bin/sh
case "$*" in
    "${HANG:-none}"*) trap '' TERM; while :; do sleep 0.1; done ;;
    "${FAIL:-none}"*) echo 'error: a "reason"'; exit 4 ;;
esac
command=$1 name=$2
while [ $# -gt 1 ]; do
    if [ "$1" = --out ]; then out=$2; fi
    shift
done
case $command in
    --version) ;;
    devices)
        case ${VK_DRIVER_FILES:-} in
            *"${FAKE_DRIVER:-}") printf '%b' "$FAKE_DEVICES" ;;
            *) echo 'no driver' >&2; exit 3 ;;
        esac
        ;;
    bench)
        if [ "$1" = --list ]; then
            printf 'device.copy\n    copy\n    --axis count=1,2\n        a number\n'
            printf 'primitives.scan\n    --axis count=1\n    --axis variant=look_back,cpu_one_core\n'
            printf 'mpm.step\n    --axis count=1\nmpm.step_with_bodies\nrender.scheme\n'
        else
            printf '{"bench":"%s","point":{"count":2},"median_ns":3000.0,"elements":2,' "$name" >>"$out"
            printf '"gb_per_s":1.5,"copy_gb_per_s":10.0,"share_of_copy":0.15}\n' >>"$out"
        fi
        ;;
    validate)
        mkdir -p "$out"
        printf 'case,result\nbits.a,"PASS",x\nbits.b,"FAIL, known: y",x\n' >"$out/validation.csv"
        echo device,driver,scene,change,steps,hash >"$out/hashes.csv"
        printf '"Card, 1","Maker",%s,scale=1,40,%s\n' a 11 b 33 >>"$out/hashes.csv"
        ;;
    run)
        mkdir -p "$out"
        printf '{\n  "n_particles": 512,\n}\n' >"$out/run.json"
        printf 'step,step_time [ms]\n1,9.0\n50,2.5\n120,1.5\n200,3.5\n' >"$out/timing.csv"
        ;;
    profile)
        mkdir -p "$out"
        printf '{"scene": "s", "n_particles": 7, "copy_gb_per_s": 10.0, "step_samples_ns": [1000000],' \
            >"$out/profile.json"
        printf '"rows": [{"kernel": "k", "calls": 1, "median_ns": 1000, "share": 1, "gb_per_s": null,' \
            >>"$out/profile.json"
        printf '"share_of_copy": null}]}\n' >>"$out/profile.json"
        printf 's: 7 particles, 3 steps on X\nstep   1.000 ms, 2 M\ncopy in a list 3\ncopy   10 GB/s read\n'
        ;;
esac
"""


class Bundle(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.work = pathlib.Path(work.name)
        self.program = self.work / "frazil"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        for name, stand_in in (("strip", shutil.copy), ("glibc_of", lambda _: (2, 1))):
            self.addCleanup(setattr, bundle, name, getattr(bundle, name))
            setattr(bundle, name, stand_in)
        self.folder = self.work / "frazil gpu"
        bundle.fill(self.folder, self.program, {}, "abc", False)
        states = '"llvmpipe (x, 256 bits)","Mesa",a,scale=1,40,11\n"Other","Maker",b,scale=1,40,33\n'
        states += '"llvmpipe (x, 256 bits)","Mesa",b,scale=1,40,22\n'
        (self.folder / "hashes.csv").write_text(STATES + states)
        self.out = self.work / "results"

    def run_script(self, *arguments, **environment):
        """Runs the script on a machine with one GPU, unless the environment says otherwise."""
        # Only these variables, so that neither drivers nor peers of this machine are found.
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.work), "FAKE_DEVICES": GPU, **environment}
        command = [self.folder / "run", "--out", self.out, *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def rows(self):
        return [json.loads(line) for line in (self.out / "parts.jsonl").read_text().splitlines()]

    def test_all_parts_run_and_their_results_are_written(self):
        done = self.run_script()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = {row["part"]: row for row in self.rows()}
        listed = parts.shared_parts(parts.benches_of(self.program), quick=False)
        expected = [part.name for part in listed if part.only != "software" and part.name != "layers"]
        self.assertEqual(list(rows), expected)
        self.assertEqual(rows["hashes"]["words"], "1 PASS, 1 FAIL; 1 of 2 final states are those of llvmpipe")
        self.assertEqual(rows["step.water.1e6"]["words"], "512 particles, 3.500 ms a step")
        words = "7 particles, a step in 1.000 ms, 2 M, copy 10 GB/s"
        self.assertEqual(rows["profile.dem.large"]["words"], words)
        self.assertEqual(rows["bench.device.copy"]["words"], "1 points verified, at most 15.0 % of copy")
        self.assertEqual(rows["bench.device.copy"]["device"], "Card (R) 1")
        self.assertEqual(rows["bench.device.copy"]["driver"], "Maker 1.2 (b)")
        # Neither taichi nor warp is beside the test's interpreter, or both are.
        self.assertRegex(rows["peers.mpm.cuda"]["status"], "not run: no Python with|failed")
        summary = (self.out / "summary.md").read_text()
        self.assertIn("| b | scale=1 | 40 | 33 | 22 | no | Other |", summary)
        self.assertIn("| a | scale=1 | 40 | 11 | 11 | yes |  |", summary)
        self.assertIn("| device.copy | count 2 | 2 | 3.0 | 1.5e+03 | 1.5 | 15.0 % |", summary)

    def test_variants_on_the_processor_are_left_out(self):
        table = (self.folder / "parts.tsv").read_text()
        self.assertIn("count=1048583,16777259 --axis variant=look_back\n", table)

    def test_a_part_that_hangs_or_fails_does_not_end_the_others(self):
        chosen = ["--limit", "1", "step.water", "profile.water", "bench.device"]
        done = self.run_script(*chosen, HANG="run dam_break --set scale=2.9", FAIL="profile")
        self.assertEqual(done.returncode, 1)
        statuses = [row["status"] for row in self.rows()]
        failed = "failed, status 4"
        self.assertEqual(statuses, ["passed", "took more than 1 s", "passed", failed, failed])
        self.assertIn('      error: a "reason"\n', (self.out / "summary.md").read_text())

    def test_parts_share_the_budget(self):
        hang = "run dam_break --set scale=2.9"
        done = self.run_script("--budget", "6", "hashes", "step.water", HANG=hang)
        self.assertEqual(done.returncode, 0)
        passed, cut_off, not_run = [row["status"] for row in self.rows()]
        self.assertEqual(passed, "passed")
        self.assertRegex(cut_off, "cut off after [56] s: the time of all parts is over")
        self.assertEqual(not_run, "not run: the time of all parts is over")
        shutil.rmtree(self.out)
        self.assertEqual(self.run_script("--budget", "4", "hashes").returncode, 1)

    def test_without_a_gpu_the_status_is_3(self):
        for devices in (SOFTWARE, "", GPU + "   cannot run frazil: too old\n"):
            done = self.run_script(FAKE_DEVICES=devices)
            self.assertEqual(done.returncode, 3, done)
            self.assertIn("/usr/share/vulkan/icd.d", done.stderr)
        done = self.run_script("--device", "Other")
        self.assertEqual((done.returncode, self.out.exists()), (3, False))
        self.assertIn('no GPU "Other"', done.stderr)

    def test_a_software_device_is_taken_if_asked_for(self):
        done = self.run_script("--software", "--quick", "hashes", "peers", FAKE_DEVICES=SOFTWARE)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual([row["part"] for row in self.rows()], ["hashes", "peers.mpm.cpu"])
        self.assertIn("says nothing about a GPU", (self.out / "summary.md").read_text())

    def test_a_driver_that_the_loader_does_not_find_is_found(self):
        manifests = self.work / ".config/vulkan/icd.d"
        manifests.mkdir(parents=True)
        for name in ("bad.json", "good.json"):
            (manifests / name).write_text("{}")
        done = self.run_script("hashes", FAKE_DRIVER="/good.json")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("good.json", done.stdout)

    def test_a_system_that_is_too_old_is_refused(self):
        with open(self.folder / "about.sh", "a") as about:
            about.write("glibc_major=99\n")
        done = self.run_script()
        self.assertEqual(done.returncode, 3)
        self.assertIn("expected 99.1 or later", done.stderr)

    def test_bad_input_is_refused(self):
        for arguments in (["x"], ["*"], ["--budget", "1.5"], ["--limit=0"], ["--what"], ["--device"]):
            done = self.run_script(*arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertRegex(done.stderr, "expected|--list names them")
        self.out.mkdir()
        done = self.run_script("hashes")
        self.assertEqual((done.returncode, done.stderr), (2, f"gpu: {self.out} exists already\n"))

    def test_a_folder_is_summarized(self):
        self.run_script("hashes", "profile.water", "bench.device")
        done = self.tool("--summarize", self.out)
        self.assertEqual(done.returncode, 0, done)
        kernels = (self.out / "kernels.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["kernel"] for line in kernels], ["k", "k"])
        self.assertIn("## profile.water: s, 7 particles", (self.out / "summary.md").read_text())
        self.assertEqual(self.tool("--summarize", self.work).returncode, 2)

    def tool(self, *arguments):
        command = [sys.executable, bundle.ROOT / "tools/gpu", *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def test_bad_archives_and_programs_are_refused(self):
        (self.work / "a.tar.gz").write_text("old")
        for file, program, expected in (
            ("a.tar.gz", "frazil", "exists already; --overwrite"),
            ("a.zip", "frazil", "expected a name that ends in .tar.gz"),
            ("none/a.tar.gz", "frazil", "cannot write"),
            ("b.tar.gz", "none", "expected the program frazil"),
            ("b.tar.gz", "frazil", "expected an ELF program"),
        ):
            done = self.tool("--bundle", self.work / file, "--program", self.work / program)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(expected, done.stderr)
        self.assertEqual((self.work / "a.tar.gz").read_text(), "old")


if __name__ == "__main__":
    unittest.main()
