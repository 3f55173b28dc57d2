"""Vulkan devices."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from . import _frazil


@dataclass(frozen=True)
class DeviceInfo:
    """A device of this machine, as `frazil devices` lists it."""

    index: int
    """Index in the list of the Vulkan loader, by which it can be opened."""
    name: str
    """Name that the driver reports."""
    kind: str
    """`discrete GPU`, `integrated GPU`, `virtual GPU`, `software device` or `other device`."""
    driver: str
    """Name and version of the driver."""
    api_version: str
    """Supported Vulkan version."""
    missing: tuple[str, ...]
    """Features that frazil requires and the device lacks; empty if it can be opened."""


def devices() -> list[DeviceInfo]:
    """Lists the devices of this machine."""
    return [
        DeviceInfo(index, name, kind, driver, api_version, tuple(missing))
        for index, name, kind, driver, api_version, missing in _frazil.list_devices()
    ]


class Device:
    """An open Vulkan device. Simulations on the same `Device` share its compiled kernels; they may run in
    several threads.

    `selector` is an index or a part of a name, as `--device` of the command line. Without it, the device is
    that of the environment variable `FRAZIL_DEVICE`, or else a GPU if there is one, or else a software
    device.
    """

    def __init__(self, selector: int | str | None = None) -> None:
        if isinstance(selector, bool) or not isinstance(selector, (int, str, type(None))):
            raise TypeError(
                f"device: found a {type(selector).__name__}, expected an index or a part of a name"
            )
        self._raw = _frazil.Device(None if selector is None else str(selector))

    @classmethod
    def _of(cls, raw: _frazil.Device) -> Device:
        device = cls.__new__(cls)
        device._raw = raw
        return device

    @property
    def index(self) -> int:
        """Index in the list of the Vulkan loader."""
        return self._raw.index

    @property
    def name(self) -> str:
        """Name that the driver reports."""
        return self._raw.name

    @property
    def kind(self) -> str:
        """Type of the device, as in `DeviceInfo`."""
        return self._raw.kind

    @property
    def driver(self) -> str:
        """Name and version of the driver."""
        return self._raw.driver

    @property
    def api_version(self) -> str:
        """Supported Vulkan version."""
        return self._raw.api_version

    @property
    def is_software(self) -> bool:
        """True for a software device, which shows whether results are right, not how fast a GPU is."""
        return self._raw.is_software

    def __repr__(self) -> str:
        return f"<frazil.Device {self._raw.describe()}>"


_lock = threading.Lock()
_default: Device | None = None


def resolve(device: Device | int | str | None) -> Device:
    """Returns the device of an argument: an open one, one that it selects, or the default one, which is
    opened once."""
    global _default
    if isinstance(device, Device):
        return device
    if device is not None:
        return Device(device)
    with _lock:
        if _default is None:
            _default = Device()
        return _default
