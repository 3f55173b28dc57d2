"""Particles at one instant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import _frazil
from ._errors import NameNotFoundError

_PHASE = "phase"


class Frame(Mapping[str, np.ndarray]):
    """Columns of all particles at one instant, as arrays by name: what a recording holds.

    All arrays have one row for each particle in the same order, in which steps may permute the particles; the
    column `id` identifies them. The arrays belong to the frame's owner, who may change them.
    """

    def __init__(
        self,
        step: int,
        time_s: float,
        columns: list[tuple[str, str, np.ndarray]],
        bodies: list[tuple[str, str, np.ndarray]],
        scene: _frazil.Scene,
    ) -> None:
        self._columns = {name: values for name, _, values in columns}
        self.step = step
        """Number of steps since the start of the simulation."""
        self.time_s = time_s
        """Simulated time in s."""
        self.units = {name: unit for name, unit, _ in columns}
        """SI units of the columns; empty for a number without one."""
        self.bodies = {name: values for name, _, values in bodies}
        """Columns of rigid bodies, pieces of slabs and then dynamic bodies; empty if there are none."""
        self._scene = scene

    @property
    def n_particles(self) -> int:
        """Number of particles."""
        return len(self._columns["id"])

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets of particles: one, or one for each phase."""
        return tuple(name for name, _ in self._scene.recorded_sets(self.n_particles))

    def of(self, name: str) -> Frame:
        """Returns the particles of one set."""
        sets = dict(self._scene.recorded_sets(self.n_particles))
        if name not in sets:
            raise NameNotFoundError(f'set of particles: found "{name}", expected {_list(sets)}')
        if len(sets) == 1 or _PHASE not in self:
            return self
        return self._rows(self[_PHASE] == sets[name])

    def sorted_by_id(self) -> Frame:
        """Returns the frame with its particles in the order of their ids, which is that of all frames."""
        return self._rows(np.argsort(self["id"], kind="stable"))

    def _rows(self, rows: np.ndarray) -> Frame:
        columns = [(name, self.units[name], values[rows]) for name, values in self.items()]
        bodies = [(name, "", values) for name, values in self.bodies.items()]
        return Frame(self.step, self.time_s, columns, bodies, self._scene)

    def __getitem__(self, column: str) -> np.ndarray:
        try:
            return self._columns[column]
        except (KeyError, TypeError):
            raise NameNotFoundError(f'column: found "{column}", expected {_list(self._columns)}') from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        columns = ", ".join(self)
        return (
            f"<frazil.Frame step {self.step}, {self.time_s:g} s: {self.n_particles} particles with {columns}>"
        )


def _list(names: Mapping[str, Any]) -> str:
    return next(iter(names)) if len(names) == 1 else "one of " + ", ".join(names)
