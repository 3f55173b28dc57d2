"""Python values as TOML, the notation of scene files and of overrides."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def value(key: str, x: Any) -> str:
    """Returns a value in TOML; `key` names it in errors."""
    if isinstance(x, (np.generic, np.ndarray)):
        x = x.tolist()
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, int):
        return str(x)
    if isinstance(x, float):
        return repr(x)
    if isinstance(x, str):
        return _string(x)
    if isinstance(x, Mapping):
        pairs = (f"{_key(key, name)} = {value(f'{key}.{name}', item)}" for name, item in x.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(value(f"{key}.{i}", item) for i, item in enumerate(x)) + "]"
    raise TypeError(
        f"{key}: found a {type(x).__name__}, expected a bool, a number, a str, or a list or dict of these"
    )


def document(scene: Mapping[str, Any]) -> str:
    """Returns a scene, as a dict of the tables and keys of its file, as TOML."""
    return "".join(f"{_key('', name)} = {value(str(name), item)}\n" for name, item in scene.items())


def overrides(values: Mapping[str, Any] | None) -> list[str]:
    """Returns overrides by dotted keys as arguments `key=value`."""
    if values is None:
        return []
    if not isinstance(values, Mapping):
        raise TypeError(f"overrides: found a {type(values).__name__}, expected a dict of keys and values")
    return [f"{_name('overrides', key)}={value(key, item)}" for key, item in values.items()]


def flattened(values: Mapping[str, Any]) -> list[str]:
    """Returns a table and those within it as arguments `key=value` with dotted keys."""

    def leaves(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, item in table.items():
            key = prefix + _name(prefix or "settings", name)
            if isinstance(item, Mapping):
                yield from leaves(f"{key}.", item)
            else:
                yield key, item

    return [f"{key}={value(key, item)}" for key, item in leaves("", values)]


def _name(where: str, key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{where}: found the key {key!r}, expected a str")
    return key


def _key(where: str, key: Any) -> str:
    name = _name(where or "scene", key)
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    # JSON escapes what TOML does, except for one character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
