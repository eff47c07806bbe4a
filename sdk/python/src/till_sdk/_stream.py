"""Server-sent events: what one connection of a live stream said so far."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Generic, TypeVar

from .errors import NoAnswerError

T = TypeVar("T")

SILENCE_S = 45.0
"""The server says something every 15 seconds: after three times that the connection is taken for lost."""

LONGEST_RETRY_S = 60.0


class Follower(Generic[T]):
    """Where a stream stands, over all its connections: which event came last, and how often it failed since."""

    def __init__(self, read: Callable[[object], T], after: int) -> None:
        self._read = read
        self._data: list[str] = []
        self.last = after
        self.failures = 0
        self.retry_s = 0.0
        """How long the server wants to be left alone after a break."""

    def headers(self) -> dict[str, str]:
        """What a connection is opened with: it goes on after the last event."""
        self._data = []
        resume = {"last-event-id": str(self.last)} if self.last > 0 else {}
        return {"accept": "text/event-stream", **resume}

    def line(self, text: str) -> T | None:
        """Takes the next line; the event that it completes, unless that was there before."""
        field, _, said = text.partition(":")
        said = said.removeprefix(" ")
        if field == "data":
            self._data.append(said)
        if field == "retry" and said.isdecimal():
            self.retry_s = min(int(said) / 1000, LONGEST_RETRY_S)
        # An event or a heartbeat: this connection was worth opening.
        if field == "data" or text.startswith(":"):
            self.failures = 0
        if text or not self._data:
            return None
        value = json.loads("\n".join(self._data))
        self._data = []
        if value["id"] <= self.last:
            return None
        self.last = value["id"]
        return self._read(value)


def ended() -> NoAnswerError:
    """What is raised when a stream ends each time it is opened."""
    return NoAnswerError("the stream ends each time it is opened", None)


def broke_off() -> NoAnswerError:
    """What is raised when a stream broke off too often."""
    return NoAnswerError("the stream broke off", None)
