"""Recordings of runs."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Sequence
from typing import SupportsIndex, overload

import numpy as np

from . import _frazil
from ._frame import Frame
from ._scene import Scene


class Recording(Sequence[Frame]):
    """Frames of a recording (`.frazil-rec`), as a sequence. A frame is read and verified when it is asked
    for.

    The recording may be one that a run is still writing: `refresh` finds the frames appended since.

    Raises `InputError` for a file that cannot be read or is no recording, and for a damaged frame.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._raw = _frazil.Recording(os.fspath(path))
        self._scene = self._raw.scene()

    @property
    def scene(self) -> Scene:
        """Scene of the run."""
        return Scene._of(self._scene)

    @property
    def device(self) -> str:
        """Name of the device of the run."""
        return self._raw.device()

    @property
    def steps(self) -> np.ndarray:
        """Steps of all frames, without reading their columns."""
        return self._raw.steps()

    @property
    def times_s(self) -> np.ndarray:
        """Times of all frames in s, without reading their columns."""
        return self._raw.times_s()

    @property
    def is_finished(self) -> bool:
        """True if the run has ended; otherwise it is under way, or was killed."""
        return self._raw.is_finished()

    @property
    def damage(self) -> list[str]:
        """Parts of the file that cannot be read; empty for a whole recording."""
        return self._raw.damage()

    def refresh(self) -> int:
        """Finds the frames appended since, and returns the number of frames."""
        return self._raw.refresh()

    def __len__(self) -> int:
        return len(self._raw)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> list[Frame]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Frame | list[Frame]:
        """Returns a frame by its index, which may be negative, or a list of frames for a slice."""
        if isinstance(index, slice):
            return [self._frame(i) for i in range(*index.indices(len(self)))]
        i = operator.index(index)
        n = len(self)
        if not -n <= i < n:
            raise IndexError(f"frame: found {i}, expected an index below {n}")
        return self._frame(i % n)

    def _frame(self, index: int) -> Frame:
        return Frame(*self._raw.frame(index), self._scene)

    def __iter__(self) -> Iterator[Frame]:
        return (self._frame(i) for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<frazil.Recording of {self.scene.name}: {len(self)} frames>"
