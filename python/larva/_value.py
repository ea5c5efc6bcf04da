"""Python values that JSON can hold, checked before anything is sent."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping

# Far above what larva lets in (64), far below what Python's own stack bears.
_DEEPEST = 200


def plain(value: Any, path: str) -> Any:
    """Give value as dicts, lists, strings, numbers, booleans and None.

    Tuples become lists, other mappings dicts; an int stays an int and a float
    a float, since larva tells 1 from 1.0. Raises ValueError, which begins with
    the path, for NaN and infinities, keys that are no strings, lone
    surrogates, and types that JSON does not have.
    """
    return _plain(value, path, 0)


def _plain(value: Any, path: str, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{path}: {float(value)!r} is no number in JSON")
        return float(value)
    if depth >= _DEEPEST:
        raise ValueError(f"{path.split('.')[0]}: more than {_DEEPEST} levels deep")
    if isinstance(value, Mapping):
        return _object(value, path, depth)
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
    raise ValueError(f"{path}: {type(value).__name__} has no form in JSON")


def _object(value: Mapping[Any, Any], path: str, depth: int) -> Dict[str, Any]:
    out: Dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise ValueError(f"{path}: the key {key!r} is no string")
        out[_text(key, path)] = _plain(item, f"{path}.{key}", depth + 1)
    return out


def _text(value: str, path: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{path}: holds a lone surrogate") from None
    return str(value) if type(value) is str else str.__str__(value)


def strings(value: Any) -> Any:
    """Give any iterable of ids as a list; a single string stays what it is, so
    that larva refuses it and does not look for its letters."""
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__"):
        return value
    items: List[Any] = [*value]
    return items
