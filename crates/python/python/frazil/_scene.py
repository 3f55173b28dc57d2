"""Scenes: what is simulated, by which method, with which parameters."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _frazil, _toml
from ._errors import InputError, NameNotFoundError


@dataclass(frozen=True)
class Parameter:
    """A parameter that may change while a simulation runs."""

    key: str
    """Key in the scene file, such as `fluid.dynamic_viscosity_pa_s`."""
    name: str
    """Name in words."""
    unit: str
    """Unit; empty for a number without one."""
    description: str
    """Description from the reference of scene files."""
    value: float | int | list[float]
    """Present value; a vector is a list of three numbers."""
    range: tuple[float, float]
    """Usual range. It is no limit of the value."""


def scenes() -> dict[str, str]:
    """Returns the built-in scenes: descriptions by name."""
    return dict(_frazil.builtin_scenes())


class Scene:
    """A scene, validated. All keys, units and defaults are those of scene files (docs/scene.md).

    `name_or_path` is the path of a scene file or the name of a built-in scene. `overrides` replaces values by
    their dotted keys, as `--set` does:

    >>> frazil.Scene("dam_break", {"fluid.particle_spacing_m": 0.05, "pbd.iterations": 4})

    Elements of arrays have their index as key, such as `particles.0.shape.box.max_m`. A dict as value
    replaces a whole table.

    Raises `SceneError` with key, found and expected value.
    """

    def __init__(
        self, name_or_path: str | os.PathLike[str], overrides: Mapping[str, Any] | None = None
    ) -> None:
        try:
            name = os.fspath(name_or_path)
        except TypeError:
            name = None
        if not isinstance(name, str):
            found = type(name_or_path).__name__
            raise TypeError(f"scene: found a {found}, expected a name or a path") from None
        self._raw = _frazil.Scene.find(name, _toml.overrides(overrides))

    @classmethod
    def _of(cls, raw: _frazil.Scene) -> Scene:
        scene = cls.__new__(cls)
        scene._raw = raw
        return scene

    @classmethod
    def from_toml(
        cls,
        text: str,
        overrides: Mapping[str, Any] | None = None,
        *,
        origin: str = "<text>",
        points: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Scene:
        """Reads a scene from the text of a scene file. `origin` names it in errors. Paths in it are relative
        to the working directory.

        `points` has particles as arrays, by names that the scene has as paths of `shape.points`:

        >>> frazil.Scene.from_toml(text, points={"start": {"position": x, "velocity": v}})

        with `shape.points = { path = "start" }`. `position` and `velocity` have shape (n, 3), `temperature`
        has (n,); only the first is required. Units are those of `shape.points`."""
        if not isinstance(text, str):
            raise TypeError(f"text: found a {type(text).__name__}, expected a str")
        clouds = [_points(name, columns) for name, columns in (points or {}).items()]
        return cls._of(_frazil.Scene.parse(text, origin, _toml.overrides(overrides), clouds))

    @classmethod
    def from_dict(
        cls,
        scene: Mapping[str, Any],
        overrides: Mapping[str, Any] | None = None,
        *,
        points: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Scene:
        """Builds a scene from a dict with the tables and keys of a scene file. Arrays of NumPy are lists of
        numbers; particles as arrays are given by `points`, like in `from_toml`. In errors, lines are those of
        the scene as TOML, one for each item of the dict."""
        if not isinstance(scene, Mapping):
            raise TypeError(f"scene: found a {type(scene).__name__}, expected a dict of tables and keys")
        return cls.from_toml(_toml.document(scene), overrides, origin="<dict>", points=points)

    def to_toml(self) -> str:
        """Returns the effective scene, with all defaults, as the text of a scene file."""
        return self._raw.to_toml()

    def to_dict(self) -> dict[str, Any]:
        """Returns the effective scene, with all defaults, as a dict, from which `from_dict` builds the same
        scene. Values that are absent are left out."""
        scene: dict[str, Any] = _without_null(json.loads(self._raw.to_json()))
        return scene

    def __getitem__(self, key: str) -> Any:
        """Returns a value by its dotted key, such as `fluid.rest_density_kg_m3`."""
        if not isinstance(key, str):
            raise TypeError(f"key: found a {type(key).__name__}, expected a str")
        item: Any = self.to_dict()
        for name in key.split("."):
            if isinstance(item, dict) and name in item:
                item = item[name]
            elif isinstance(item, list) and name.isdigit() and int(name) < len(item):
                item = item[int(name)]
            else:
                expected = (
                    ", ".join(item) if isinstance(item, dict) else f"one of {len(_items(item))} elements"
                )
                raise NameNotFoundError(f'{key}: found "{name}", expected {expected}')
        return item

    @property
    def name(self) -> str:
        """Short name."""
        return str(self["name"])

    @property
    def description(self) -> str:
        """Description in a sentence or two."""
        return str(self["description"])

    @property
    def dt_s(self) -> float:
        """Time step in s, also where the file has `"auto"`."""
        return self._raw.dt_s

    @property
    def n_steps(self) -> int:
        """Number of steps of a run."""
        return self._raw.n_steps

    @property
    def n_dimensions(self) -> int:
        """2 or 3."""
        return self._raw.n_dimensions

    @property
    def derived(self) -> dict[str, Any]:
        """Quantities that follow from the scene, such as the mass of a particle, as in `run.json`."""
        derived: dict[str, Any] = json.loads(self._raw.derived_json())
        return derived

    @property
    def advice(self) -> list[str]:
        """Warnings about unusual values."""
        return self._raw.advice()

    @property
    def live_parameters(self) -> dict[str, Parameter]:
        """Parameters that may change while the scene is simulated, by key."""
        return {
            key: Parameter(key, name, unit, description, value, (low, high))
            for key, name, unit, description, value, (low, high) in self._raw.live_parameters()
        }

    def __eq__(self, other: object) -> bool:
        return self._raw == other._raw if isinstance(other, Scene) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<frazil.Scene {self.name}: {self.n_steps} steps of {self.dt_s:g} s>"


def _points(name: str, columns: Mapping[str, Any]) -> _frazil.Points:
    """Returns particles as the compiled part takes them."""
    if not isinstance(columns, Mapping) or "position" not in columns:
        raise TypeError(f'points "{name}": expected a dict with the array "position"')
    unknown = set(columns) - {"position", "velocity", "temperature"}
    if unknown:
        expected = "position, velocity or temperature"
        raise NameNotFoundError(f'points "{name}": found "{min(unknown)}", expected {expected}')

    def array(column: str, n_dimensions: int) -> np.ndarray | None:
        if columns.get(column) is None:
            return None
        found = np.asarray(columns[column])
        if found.dtype.kind not in "fiu":
            raise TypeError(f'points "{name}", {column}: found {found.dtype}, expected real numbers')
        if found.ndim != n_dimensions or (n_dimensions == 2 and found.shape[1] != 3):
            expected = "(n, 3)" if n_dimensions == 2 else "(n,)"
            raise InputError(
                f'points "{name}", {column}: found an array of shape {found.shape}, expected {expected}'
            )
        return np.ascontiguousarray(found, dtype=np.float64)

    position = array("position", 2)
    assert position is not None
    return name, position, array("velocity", 2), array("temperature", 1)


def _items(item: Any) -> list[Any]:
    return item if isinstance(item, list) else []


def _without_null(item: Any) -> Any:
    if isinstance(item, dict):
        return {name: _without_null(value) for name, value in item.items() if value is not None}
    if isinstance(item, list):
        return [_without_null(value) for value in item]
    return item
