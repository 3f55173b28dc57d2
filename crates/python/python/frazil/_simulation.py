"""Simulations."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import _frazil, _toml
from ._device import Device, resolve
from ._errors import InputError, NameNotFoundError
from ._frame import Frame
from ._scene import Parameter, Scene


class ParticleSet(Mapping[str, np.ndarray]):
    """A set of a simulation's particles: present values of its columns as arrays by name.

    `particles["position"]` downloads the column: an array of shape (n,) or, for vectors, (n, 3), of float32
    or uint32. It is the caller's own, and does not follow later steps. Rows of all columns have the same order
    until the next step, which may permute the particles; the column `id` identifies them. Other libraries
    take the array without a further copy by DLPack, such as `torch.from_dlpack(particles["position"])`.
    """

    def __init__(self, raw: _frazil.Simulation, name: str, columns: list[tuple[str, str]]) -> None:
        self._raw = raw
        self.name = name
        """Name of the set."""
        self.units = dict(columns)
        """SI units of the columns; empty for a number without one."""

    @property
    def n_particles(self) -> int:
        """Number of particles in the set now: phases exchange particles."""
        return self._raw.set_len(self.name)

    def read(self, *columns: str) -> dict[str, np.ndarray]:
        """Downloads several columns of the same instant at once; without names, all."""
        for column in columns:
            if not isinstance(column, str):
                raise TypeError(f"column: found a {type(column).__name__}, expected a str")
        return {name: values for name, _, values in self._raw.columns(self.name, list(columns or self))}

    def view(self, column: str) -> np.ndarray:
        """Returns a column where the device has it, without a copy: an array that cannot be written.

        It has the values of the present state until the simulation steps, changes or is written to, and
        undefined ones from then on: take another view. It keeps its memory, also without the simulation.
        NumPy 2.1 and later export it by DLPack to libraries that know arrays which cannot be written.

        Raises `DeviceError` if the device does not share its memory with the host, as graphics cards do not.
        """
        if not isinstance(column, str):
            raise TypeError(f"column: found a {type(column).__name__}, expected a str")
        return np.asarray(self._raw.shared_column(self.name, column))

    def set(self, column: str, values: Any) -> None:
        """Replaces a column by an array of the shape in which it is read, with a row for each particle in the
        order in which it is read. Arrays of other libraries are taken, too, by `__array__` or DLPack.

        See `write`.
        """
        self.write({column: values})

    def write(self, columns: Mapping[str, Any]) -> None:
        """Replaces several columns at once, such as `{"position": x, "velocity": v}`.

        Columns that the next step depends on can be written, but `id`; those that follow from them, such as
        `density`, cannot. Links and the history of contacts stay with the ids of their particles. The state
        is downloaded and restored, which takes as long as a restart from a checkpoint.

        Raises `TypeError` for values that are no numbers, and `InputError` for another shape, a value that is
        not finite, a column that cannot be written, or a state that is not sound, such as with a particle
        outside the domain; the simulation is then as it was.
        """
        for column in columns:
            if column not in self:
                raise NameNotFoundError(f'column of {self.name}: found "{column}", expected {_one_of(self)}')
        present = self.read(*columns) if columns else {}
        arrays = [(name, self._like(name, values, present[name])) for name, values in columns.items()]
        if arrays:
            self._raw.set_columns(self.name, arrays)

    def _like(self, column: str, values: Any, present: np.ndarray) -> np.ndarray:
        is_foreign = hasattr(values, "__dlpack__") and not hasattr(values, "__array__")
        array = np.from_dlpack(values) if is_foreign else np.asarray(values)
        if array.dtype.kind not in "fiu":
            raise TypeError(f'column "{column}" of {self.name}: found {array.dtype}, expected real numbers')
        if array.shape != present.shape:
            raise InputError(
                f'column "{column}" of {self.name}: found an array of shape {array.shape}, '
                f"expected {present.shape}"
            )
        with np.errstate(over="ignore"):
            converted = np.ascontiguousarray(array, dtype=present.dtype)
        if present.dtype.kind == "u" and not np.array_equal(converted, array):
            raise InputError(f'column "{column}" of {self.name}: found numbers that {present.dtype} has not')
        return converted

    def __getitem__(self, column: str) -> np.ndarray:
        return self.read(column)[column]

    def __setitem__(self, column: str, values: Any) -> None:
        self.set(column, values)

    def __iter__(self) -> Iterator[str]:
        return iter(self.units)

    def __len__(self) -> int:
        return len(self.units)

    def __contains__(self, column: object) -> bool:
        return column in self.units

    def __repr__(self) -> str:
        return f"<frazil.ParticleSet {self.name}: {self.n_particles} particles with {', '.join(self)}>"


class Simulation:
    """A scene that is being simulated on a device.

    `scene` is a `Scene`, or the name or path of one. `device` is a `Device`, an index or a part of a name; by
    default all simulations share one device.

    >>> sim = frazil.Simulation("dam_break")
    >>> sim.step(100)
    >>> sim["water"]["position"]

    Steps have the same bits as those of `frazil run` on the same device. Whatever takes time releases the
    interpreter's lock, so that simulations may run in several threads; calls of one simulation take turns.
    """

    def __init__(
        self, scene: Scene | str | os.PathLike[str], *, device: Device | int | str | None = None
    ) -> None:
        scene = scene if isinstance(scene, Scene) else Scene(scene)
        self._raw = _frazil.Simulation(scene._raw, resolve(device)._raw)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: Device | int | str | None = None) -> Simulation:
        """Goes on from a checkpoint of `save` or of `frazil run --checkpoint`, with the same bits."""
        simulation = cls.__new__(cls)
        simulation._raw = _frazil.Simulation.load(os.fspath(path), resolve(device)._raw)
        return simulation

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint; a file of this name is replaced."""
        self._raw.save(os.fspath(path))

    # Steps

    def step(self, n: int = 1) -> None:
        """Takes `n` steps. An interrupt from the keyboard ends them early, with a sound state.

        Raises `FaultError` if a step finds a fault, and `DeviceError` if the device is lost.
        """
        steps = operator.index(n)
        if steps < 0:
            raise InputError(f"steps: found {steps}, expected 0 or more")
        self._raw.step(steps)

    def step_to(self, time_s: float) -> None:
        """Takes steps up to the one that is nearest to a time in s."""
        steps = round(time_s / self.scene.dt_s) - self.step_count
        if steps < 0:
            raise InputError(f"time: found {time_s} s, expected {self.time_s} s or more")
        self._raw.step(steps)

    @property
    def step_count(self) -> int:
        """Number of steps taken."""
        return self._raw.status()[0]

    @property
    def time_s(self) -> float:
        """Simulated time in s."""
        return self._raw.status()[1]

    # Particles

    @property
    def n_particles(self) -> int:
        """Number of particles, which is constant."""
        return self._raw.status()[2]

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets of particles: one, or one for each phase."""
        return tuple(name for name, _ in self._raw.sets())

    def __getitem__(self, name: str) -> ParticleSet:
        """Returns a set of particles by name."""
        sets = dict(self._raw.sets())
        if name not in sets:
            raise NameNotFoundError(f'set of particles: found "{name}", expected {_one_of(sets)}')
        return ParticleSet(self._raw, name, sets[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.sets)

    def __contains__(self, name: object) -> bool:
        return name in self.sets

    def frame(self) -> Frame:
        """Downloads the recorded columns of all particles, and those of rigid bodies."""
        return Frame(*self._raw.frame(), self._raw.scene())

    def hash(self) -> str:
        """Returns the hash of the state: `final_state_hash` in `run.json` of a run that ends here."""
        return self._raw.hash()

    # Measurements

    def metrics(self) -> dict[str, float]:
        """Measures the state: step, time in s and all metrics, with the names of `metrics.csv`.

        Raises `FaultError` if particles are lost, not finite or outside the domain, or have gained energy
        from nothing (`solver.max_energy_ratio`).
        """
        step, time_s, values = self._raw.measure()
        names = (name for name, _ in self._raw.metric_infos())
        return {"step": step, "time": time_s, **dict(zip(names, values))}

    @property
    def metric_units(self) -> dict[str, str]:
        """SI units of the metrics; empty for a number without one."""
        units = {name: "" if unit == "1" else unit for name, unit in self._raw.metric_infos()}
        return {"step": "", "time": "s", **units}

    # Parameters

    @property
    def scene(self) -> Scene:
        """Present scene, with all changes of parameters."""
        return Scene._of(self._raw.scene())

    @property
    def live_parameters(self) -> dict[str, Parameter]:
        """Parameters that may change now, by key, with their present values."""
        return self.scene.live_parameters

    def set_parameter(self, key: str, value: Any) -> None:
        """Goes on with another value of a live parameter, given by its key in the scene file.

        Raises `SceneError` if it cannot change while the simulation runs, or if the value is invalid; the
        simulation is then as it was.
        """
        self.set_parameters({key: value})

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Goes on with other values of several live parameters, of which all change or none."""
        self._raw.change(_toml.overrides(values))

    @property
    def changes(self) -> list[dict[str, Any]]:
        """Changes of parameters so far: step, time, key and both values, as in `run.json`."""
        changes: list[dict[str, Any]] = json.loads(self._raw.changes_json())
        return changes

    # Pictures

    def render(self, **settings: Any) -> np.ndarray:
        """Draws the state as `frazil run --render`: an array of shape (height, width, 3) of uint8, sRGB.

        `settings` are keys of `[render]` in scene files that differ from the scene's, such as `width_px`,
        `height_px`, `colour_by`, `scheme` or `camera={"azimuth_deg": 30.0}`. A range of colours that follows
        from the values is that of the first picture with these settings.
        """
        return self._raw.render(_toml.flattened(settings))

    # The rest

    @property
    def device(self) -> Device:
        """Device that it runs on."""
        return Device._of(self._raw.device())

    @property
    def warnings(self) -> list[str]:
        """Warnings about unusual values of the scene, and about stored tunables that are not used."""
        return self._raw.warnings()

    def __repr__(self) -> str:
        step, time_s, n = self._raw.status()
        return f"<frazil.Simulation of {self.scene.name}: {n} particles, step {step}, {time_s:g} s>"


def _one_of(names: Mapping[str, Any]) -> str:
    return next(iter(names)) if len(names) == 1 else "one of " + ", ".join(names)
