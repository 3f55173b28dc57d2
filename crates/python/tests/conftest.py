"""Fixtures of all tests: the program, and small scenes."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import frazil

REPOSITORY = Path(__file__).parents[3]

# A few steps of small scenes, one for each solver and number of phases.
SMALL = {
    "dam_break": ({"fluid.particle_spacing_m": 0.0182}, 25),
    "snow_drop_linked": ({"scale": 0.35}, 12),
    "snowball_collision": ({"particles.0.count": 300, "particles.1.count": 300}, 40),
    "column_collapse": ({"dem.radius_m": 0.02}, 60),
    "viscoelastic_cube": ({"scale": 0.5}, 12),
}


class Program:
    """The command line."""

    def __init__(self, path):
        self.path = path

    def __call__(self, *arguments, status=0):
        """Runs a command; returns what it prints to stderr."""
        run = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True)
        assert run.returncode == status, run.stderr
        return run.stderr

    def run(self, scene, overrides, steps, out, *more):
        """Runs a scene; returns `run.json`."""
        render = [] if "--render" in more else ["--render", "never"]
        self(
            "run",
            scene,
            *set_arguments(overrides),
            "--steps",
            steps,
            *render,
            "--record",
            "never",
            "--quiet",
            "--out",
            out,
            *more,
        )
        return json.loads((Path(out) / "run.json").read_text())


def set_arguments(overrides):
    return [f"--set={key}={json.dumps(value)}" for key, value in overrides.items()]


@pytest.fixture(scope="session")
def program():
    path = shutil.which("frazil")
    assert path, "the program frazil is not on the path: run the tests by tools/python"
    return Program(path)


@pytest.fixture(scope="session")
def repository():
    return REPOSITORY


@pytest.fixture(scope="session")
def device():
    return frazil.Device()


@pytest.fixture
def water(device):
    """A small dam break."""
    return frazil.Simulation(frazil.Scene("dam_break", SMALL["dam_break"][0]), device=device)


@pytest.fixture(params=list(SMALL))
def small(request):
    """Name, overrides and number of steps of each small scene."""
    return request.param, *SMALL[request.param]
