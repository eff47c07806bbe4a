"""The clients."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import httpx

from ._async_resources import AsyncResources
from ._requests import AsyncRequests, Requests
from ._resources import Resources


class Till(Resources):
    """A client of one Till server with one key. Use it as a context manager, or `close()` it."""

    def __init__(
        self,
        *,
        url: str,
        key: str,
        max_retries: int = 3,
        timeout_s: float = 30.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`max_retries`: how often a call that failed is tried again. `timeout_s`: how long one attempt may wait."""
        self._requests = Requests(url, key, max_retries, timeout_s, transport)
        super().__init__(self._requests)

    def close(self) -> None:
        """Closes its connections."""
        self._requests.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncTill(AsyncResources):
    """The same with `await`. Use it as an asynchronous context manager, or `await` its `close()`."""

    def __init__(
        self,
        *,
        url: str,
        key: str,
        max_retries: int = 3,
        timeout_s: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`max_retries`: how often a call that failed is tried again. `timeout_s`: how long one attempt may wait."""
        self._requests = AsyncRequests(url, key, max_retries, timeout_s, transport)
        super().__init__(self._requests)

    async def close(self) -> None:
        """Closes its connections."""
        await self._requests.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
