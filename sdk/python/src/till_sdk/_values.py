"""Values that JSON has no words for, on their way into a request."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal


class _Missing(enum.Enum):
    NOT_GIVEN = "not given"

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NotGiven = Literal[_Missing.NOT_GIVEN]
"""The type of an argument that was left out, where `None` would mean something: that a field is to be emptied."""

NOT_GIVEN: Final = _Missing.NOT_GIVEN


def _sent(value: object) -> object:
    if not isinstance(value, datetime):
        return value
    if value.tzinfo is None:
        raise ValueError(f"{value!r} does not say of which time zone it is")
    return value.isoformat()


def body_of(fields: Mapping[str, object]) -> dict[str, object]:
    """The body of a request, without what was left out."""
    return {name: _sent(value) for name, value in fields.items() if value is not NOT_GIVEN}


def query_of(fields: Mapping[str, object]) -> dict[str, str]:
    """The query of a request, without what was left out."""
    given = {name: _sent(value) for name, value in fields.items() if value is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}
