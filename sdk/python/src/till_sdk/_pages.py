"""Lists: the items of all pages, one after the other, or one page at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list, newest first."""

    data: list[T]
    next_cursor: str | None
    """What to pass as `cursor` for the next page; None on the last one."""


class Pages(Generic[T]):
    """A list. Iterate over it for all items, newest first, or take one `page()`."""

    def __init__(self, fetch: Callable[[str | None], Page[T]], start: str | None) -> None:
        self._fetch = fetch
        self._start = start

    def page(self) -> Page[T]:
        """The first page; the next is a list that begins at its `next_cursor`."""
        return self._fetch(self._start)

    def __iter__(self) -> Iterator[T]:
        page = self._fetch(self._start)
        yield from page.data
        while page.next_cursor is not None:
            page = self._fetch(page.next_cursor)
            yield from page.data


class AsyncPages(Generic[T]):
    """A list. Iterate over it for all items, newest first, or take one `page()`."""

    def __init__(self, fetch: Callable[[str | None], Awaitable[Page[T]]], start: str | None) -> None:
        self._fetch = fetch
        self._start = start

    async def page(self) -> Page[T]:
        """The first page; the next is a list that begins at its `next_cursor`."""
        return await self._fetch(self._start)

    async def __aiter__(self) -> AsyncIterator[T]:
        page = await self._fetch(self._start)
        for one in page.data:
            yield one
        while page.next_cursor is not None:
            page = await self._fetch(page.next_cursor)
            for one in page.data:
                yield one
