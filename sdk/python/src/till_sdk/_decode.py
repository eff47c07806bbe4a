"""From JSON to the models. A field that a newer server adds is left out; a new value of a known field is kept as it is."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from . import models
from .errors import TillError

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class UnknownEvent:
    """An event of a type that this version of the library does not know."""

    id: str
    object: Literal["event"]
    type: str
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: dict[str, Any]


@functools.cache
def _fields(kind: type) -> list[tuple[str, str, Any, bool]]:
    """Each field's name, its name in JSON, its type, and whether it may be absent."""
    hints = get_type_hints(kind)
    return [
        (one.name, one.name.rstrip("_"), hints[one.name], one.default is not dataclasses.MISSING)
        for one in dataclasses.fields(kind)
    ]


def _object(kind: Any, value: dict[str, object]) -> Any:
    given: dict[str, Any] = {}
    for name, key, hint, may_be_absent in _fields(kind):
        if key in value:
            given[name] = _value(hint, value[key])
        elif not may_be_absent:
            raise TillError(f"the answer has no {key}: is this address a Till server of this version?")
    return kind(**given)


def _fits(kind: Any, value: dict[str, object]) -> bool:
    """Whether the fields that have one possible value have that one."""
    constants = [(key, hint) for _, key, hint, _ in _fields(kind) if get_origin(hint) is Literal]
    return all(value.get(key) in get_args(hint) for key, hint in constants if len(get_args(hint)) == 1)


def _value(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        members = [one for one in get_args(hint) if one is not type(None)]
        if len(members) == 1:
            return _value(members[0], value)
        fitting = [one for one in members if isinstance(value, dict) and dataclasses.is_dataclass(one) and _fits(one, value)]
        return _value(fitting[0], value) if fitting else value
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        return _object(hint, value)
    if origin is list and isinstance(value, list):
        return [_value(get_args(hint)[0], one) for one in value]
    if hint is datetime and isinstance(value, str):
        return datetime.fromisoformat(value)
    return value


def model(kind: type[T]) -> Callable[[object], T]:
    """Reads this model from what was answered."""

    def read(value: object) -> T:
        if not isinstance(value, dict):
            raise TillError("the answer is no object: is this address a Till server?")
        return cast(T, _object(kind, value))

    return read


def event(value: object) -> models.Event:
    """Reads an event by its type. One of an unknown type is an `UnknownEvent`, which no comparison of types takes for another."""
    if not isinstance(value, dict):
        raise TillError("an event is an object")
    kind = models.EVENTS.get(str(value.get("type")), UnknownEvent)
    return cast(models.Event, _object(kind, value))
