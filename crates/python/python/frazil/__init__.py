"""Particle simulation on Vulkan devices: water, snow, viscoelastic fluids, grains and avalanches.

>>> import frazil
>>> sim = frazil.Simulation(frazil.Scene("dam_break", {"pbd.iterations": 4}))
>>> sim.step(100)
>>> sim["water"]["position"]      # float32 array of shape (n, 3)
>>> sim.metrics()["kinetic_energy"]
>>> sim.render(width_px=640, height_px=360)

Keys of scenes and parameters are those of scene files, metrics those of `metrics.csv`. Lengths are in m,
times in s, masses in kg, angles in degrees.
"""

from ._device import Device, DeviceInfo, devices
from ._errors import DeviceError, Error, FaultError, InputError, NameNotFoundError, SceneError
from ._frame import Frame
from ._frazil import __version__
from ._recording import Recording
from ._scene import Parameter, Scene, scenes
from ._simulation import ParticleSet, Simulation

__all__ = [
    "Device",
    "DeviceError",
    "DeviceInfo",
    "Error",
    "FaultError",
    "Frame",
    "InputError",
    "NameNotFoundError",
    "Parameter",
    "ParticleSet",
    "Recording",
    "Scene",
    "SceneError",
    "Simulation",
    "__version__",
    "devices",
    "scenes",
]
