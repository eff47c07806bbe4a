"""How calls are made: with a key, again when that can help, and always with the same idempotency key."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from ._pages import AsyncPages, Page, Pages
from ._retry import can_retry, refusal, wait_before
from ._stream import SILENCE_S, Follower, broke_off, ended
from ._values import body_of, query_of
from .errors import NoAnswerError, TillError

T = TypeVar("T")


def segment(text: str) -> str:
    """One segment of a path, whatever it holds."""
    if text in ("", ".", ".."):
        raise TillError(f"{text!r} is no id")
    return quote(text, safe="")


def _shown(path: str) -> str:
    """A path for people and their logs: a claim's token is as good as a key."""
    return re.sub("(/refund_claims/).+", r"\1…", path)


def _read_page(read: Callable[[object], T], value: Any) -> Page[T]:
    return Page([read(one) for one in value["data"]], value["next_cursor"])


class _Ways:
    """What both kinds of client know: where the server is, who asks, and how often."""

    def __init__(self, url: str, key: str, max_retries: int, timeout_s: float) -> None:
        if not url.startswith(("https://", "http://")):
            raise TillError(f"{url!r} is no address of a server")
        if not key:
            raise TillError("there is no key")
        self._url = url.rstrip("/")
        self._authorization = {"authorization": f"Bearer {key}"}
        self._max_retries = max_retries
        self._timeout_s = timeout_s

    def _prepared(
        self, method: str, query: Mapping[str, object] | None, body: Mapping[str, object] | None, idempotency_key: str | None
    ) -> tuple[dict[str, Any], str | None]:
        headers = dict(self._authorization)
        key = None if method == "GET" else idempotency_key or str(uuid.uuid4())
        if key is not None:
            headers["idempotency-key"] = key
        arguments: dict[str, Any] = {"headers": headers, "params": query_of(query or {}), "timeout": self._timeout_s}
        if body is not None:
            arguments["json"] = body_of(body)
        return arguments, key

    def _wait(self, attempt: int, error: Exception | None) -> float | None:
        return wait_before(attempt, error) if attempt <= self._max_retries and can_retry(error) else None

    def _streaming(self, follower: Follower[T]) -> dict[str, Any]:
        timeout = httpx.Timeout(self._timeout_s, read=SILENCE_S)
        return {"headers": {**self._authorization, **follower.headers()}, "timeout": timeout}


class Requests(_Ways):
    """Makes the requests of one client."""

    def __init__(self, url: str, key: str, max_retries: int, timeout_s: float, transport: httpx.BaseTransport | None) -> None:
        super().__init__(url, key, max_retries, timeout_s)
        self._http = httpx.Client(transport=transport)

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def request(
        self,
        read: Callable[[object], T],
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
    ) -> T:
        """Makes a call and reads its answer."""
        return read(self._repeat(method, path, query, body, idempotency_key, lambda response: response.json()))

    def request_text(self, path: str, *, query: Mapping[str, object] | None = None) -> str:
        """Makes a call that is answered with text."""
        return str(self._repeat("GET", path, query, None, None, lambda response: response.text))

    def pages(self, read: Callable[[object], T], path: str, *, query: Mapping[str, object]) -> Pages[T]:
        """A list."""

        def fetch(cursor: str | None) -> Page[T]:
            return self.request(lambda value: _read_page(read, value), "GET", path, query={**query, "cursor": cursor})

        start = query.get("cursor")
        return Pages(fetch, start if isinstance(start, str) else None)

    def stream(self, read: Callable[[object], T], path: str, *, after: int = 0) -> Iterator[T]:
        """A live stream that goes on where it broke off."""
        follower = Follower(read, after)
        while True:
            error: Exception | None = None
            try:
                with self._http.stream("GET", self._url + path, **self._streaming(follower)) as response:
                    if not response.is_success:
                        response.read()
                        raise refusal(response)
                    for text in response.iter_lines():
                        one = follower.line(text)
                        if one is not None:
                            yield one
            except httpx.HTTPError as lost:
                error = broke_off()
                error.__cause__ = lost
            except TillError as refused:
                error = refused
            follower.failures += 1
            wait = self._wait(follower.failures, error)
            if wait is None:
                raise error or ended()
            time.sleep(max(wait, follower.retry_s))

    def _repeat(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] | None,
        body: Mapping[str, object] | None,
        idempotency_key: str | None,
        read: Callable[[httpx.Response], object],
    ) -> object:
        arguments, key = self._prepared(method, query, body, idempotency_key)
        attempt = 0
        while True:
            attempt += 1
            error: Exception
            try:
                response = self._http.request(method, self._url + path, **arguments)
                if response.is_success:
                    return read(response)
                error = refusal(response)
            except (httpx.HTTPError, ValueError) as lost:
                error = NoAnswerError(f"{method} {_shown(path)} was not answered", key)
                error.__cause__ = lost
            wait = self._wait(attempt, error)
            if wait is None:
                raise error
            time.sleep(wait)


class AsyncRequests(_Ways):
    """Makes the requests of one client, without holding up others."""

    def __init__(
        self, url: str, key: str, max_retries: int, timeout_s: float, transport: httpx.AsyncBaseTransport | None
    ) -> None:
        super().__init__(url, key, max_retries, timeout_s)
        self._http = httpx.AsyncClient(transport=transport)

    async def close(self) -> None:
        """Closes its connections."""
        await self._http.aclose()

    async def request(
        self,
        read: Callable[[object], T],
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
    ) -> T:
        """Makes a call and reads its answer."""
        return read(await self._repeat(method, path, query, body, idempotency_key, lambda response: response.json()))

    async def request_text(self, path: str, *, query: Mapping[str, object] | None = None) -> str:
        """Makes a call that is answered with text."""
        return str(await self._repeat("GET", path, query, None, None, lambda response: response.text))

    def pages(self, read: Callable[[object], T], path: str, *, query: Mapping[str, object]) -> AsyncPages[T]:
        """A list."""

        async def fetch(cursor: str | None) -> Page[T]:
            return await self.request(lambda value: _read_page(read, value), "GET", path, query={**query, "cursor": cursor})

        start = query.get("cursor")
        return AsyncPages(fetch, start if isinstance(start, str) else None)

    async def stream(self, read: Callable[[object], T], path: str, *, after: int = 0) -> AsyncIterator[T]:
        """A live stream that goes on where it broke off."""
        follower = Follower(read, after)
        while True:
            error: Exception | None = None
            try:
                async with self._http.stream("GET", self._url + path, **self._streaming(follower)) as response:
                    if not response.is_success:
                        await response.aread()
                        raise refusal(response)
                    async for text in response.aiter_lines():
                        one = follower.line(text)
                        if one is not None:
                            yield one
            except httpx.HTTPError as lost:
                error = broke_off()
                error.__cause__ = lost
            except TillError as refused:
                error = refused
            follower.failures += 1
            wait = self._wait(follower.failures, error)
            if wait is None:
                raise error or ended()
            await asyncio.sleep(max(wait, follower.retry_s))

    async def _repeat(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] | None,
        body: Mapping[str, object] | None,
        idempotency_key: str | None,
        read: Callable[[httpx.Response], object],
    ) -> object:
        arguments, key = self._prepared(method, query, body, idempotency_key)
        attempt = 0
        while True:
            attempt += 1
            error: Exception
            try:
                response = await self._http.request(method, self._url + path, **arguments)
                if response.is_success:
                    return read(response)
                error = refusal(response)
            except (httpx.HTTPError, ValueError) as lost:
                error = NoAnswerError(f"{method} {_shown(path)} was not answered", key)
                error.__cause__ = lost
            wait = self._wait(attempt, error)
            if wait is None:
                raise error
            await asyncio.sleep(wait)
