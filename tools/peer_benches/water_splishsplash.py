"""Runs a dam break of 27³ particles for 1 s by DFSPH as SPlisHSPlasH ships it: adaptive steps, both solves.

Writes the positions at every 0.1 s, with a corner of the box at the origin, to a file of NumPy; prints the
milliseconds of the steps after the first and their number.
"""

import json
import os
import pathlib
import sys
import tempfile
import time

import numpy as np
import pysplishsplash as sph

SPACING_M, SECONDS, OUT = 0.035, 1.0, sys.argv[1]
# With denseMode 0 the last layer of a block is left out: 27 a side.
SIDE_M = 28 * SPACING_M
BOX_M = [4.0, 3.0, 1.5]

# The model of the walls is beside the wheel's modules.
folder = pathlib.Path(sph.__file__).parent
models = next(p for p in [*folder.rglob("UnitBox.obj"), *pathlib.Path(sys.prefix).rglob("UnitBox.obj")])
half = SIDE_M / 2
scene = {
    "Configuration": {
        "particleRadius": SPACING_M / 2,
        "simulationMethod": 4,
        "gravitation": [0, -9.81, 0],
        "timeStepSize": 0.001,
        "cflMethod": 1,
        "cflFactor": 1,
        "cflMaxTimeStepSize": 0.005,
        "boundaryHandlingMethod": 2,
        "enableDivergenceSolver": True,
    },
    "Materials": [
        {"id": "Fluid", "density0": 1000, "viscosityMethod": 1, "Standard viscosity": {"viscosity": 0.01}}
    ],
    "RigidBodies": [
        {
            "geometryFile": str(models),
            "translation": [0, BOX_M[1] / 2, 0],
            "rotationAxis": [1, 0, 0],
            "rotationAngle": 0,
            "scale": BOX_M,
            "isDynamic": False,
            "isWall": True,
            "mapInvert": True,
            "mapThickness": 0.0,
            "mapResolution": [40, 30, 15],
        }
    ],
    "FluidBlocks": [
        {
            "denseMode": 0,
            "start": [-half, 0, -half],
            "end": [half, SIDE_M, half],
            "translation": [-BOX_M[0] / 2 + half + SPACING_M / 2, SPACING_M / 2, 0],
        }
    ],
}
output = tempfile.mkdtemp()
path = pathlib.Path(output) / "dam_break.json"
path.write_text(json.dumps(scene))
simulator = sph.Exec.SimulatorBase()
simulator.init(useGui=False, sceneFile=str(path), outputDir=output, initialPause=False, useCache=False)
stamps, frames = [], []


def after_step():
    stamps.append(time.perf_counter())
    t = sph.TimeManager.getCurrent().getTime()
    fluid = sph.Simulation.getCurrent().getFluidModel(0)
    if t >= 0.1 * (len(frames) + 1):
        of_all = [fluid.getPosition(i) for i in range(fluid.numActiveParticles())]
        frames.append(np.array(of_all, dtype=np.float64) + [BOX_M[0] / 2, 0, BOX_M[2] / 2])
    if t >= SECONDS:
        np.save(OUT, np.array(frames))
        ms = 1e3 * (stamps[-1] - stamps[0])
        print(json.dumps({"ms": ms, "count": fluid.numActiveParticles(), "steps": len(stamps)}), flush=True)
        os._exit(0)  # The wheel's exit handlers do not return.


simulator.initSimulation()
simulator.setValueFloat(simulator.STOP_AT, 1e6)
simulator.setTimeStepCB(after_step)
simulator.runSimulation()
