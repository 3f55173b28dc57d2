"""Times steps of SPlisHSPlasH's position-based fluid: prints milliseconds a step, median, and the particles."""

import json
import os
import pathlib
import sys
import tempfile
import time

import pysplishsplash as sph

STEPS, WARM_UP = int(sys.argv[1]), 8
RADIUS_M = 0.0115

# The model of the walls is beside the wheel's modules.
folder = pathlib.Path(sph.__file__).parent
models = next(p for p in [*folder.rglob("UnitBox.obj"), *pathlib.Path(sys.prefix).rglob("UnitBox.obj")])
scene = {
    "Configuration": {
        "particleRadius": RADIUS_M,
        "simulationMethod": 2,
        "gravitation": [0, -9.81, 0],
        "timeStepSize": 0.001,
        "cflMethod": 0,
        "boundaryHandlingMethod": 2,
        "PBF": {"minIterations": 4, "maxIterations": 4, "velocityUpdateMethod": 0},
    },
    "Materials": [
        {"id": "Fluid", "density0": 1000, "viscosityMethod": 1, "Standard viscosity": {"viscosity": 0.01}}
    ],
    "RigidBodies": [
        {
            "geometryFile": str(models),
            "translation": [0, 1.5, 0],
            "rotationAxis": [1, 0, 0],
            "rotationAngle": 0,
            "scale": [4, 3, 1.5],
            "isDynamic": False,
            "isWall": True,
            "mapInvert": True,
            "mapThickness": 0.0,
            "mapResolution": [40, 30, 15],
        }
    ],
    "FluidBlocks": [
        {"denseMode": 0, "start": [-0.5, 0, -0.5], "end": [0.5, 1, 0.5], "translation": [-1.45, 0.05, 0]}
    ],
}
output = tempfile.mkdtemp()
path = pathlib.Path(output) / "dam_break.json"
path.write_text(json.dumps(scene))
simulator = sph.Exec.SimulatorBase()
simulator.init(useGui=False, sceneFile=str(path), outputDir=output, initialPause=False, useCache=False)
stamps = []


def after_step():
    stamps.append(time.perf_counter())
    if len(stamps) > STEPS + WARM_UP:
        times = sorted(b - a for a, b in zip(stamps[WARM_UP:], stamps[WARM_UP + 1 :]))
        n = sph.Simulation.getCurrent().getFluidModel(0).numActiveParticles()
        print(json.dumps({"ms": 1e3 * times[len(times) // 2], "count": n}), flush=True)
        os._exit(0)  # The wheel's exit handlers do not return.


simulator.initSimulation()
simulator.setValueFloat(simulator.STOP_AT, 1e6)
simulator.setTimeStepCB(after_step)
simulator.runSimulation()
