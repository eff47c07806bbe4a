"""A merchant of the server that scripts/with-till started, and what can go wrong on the way to it."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from till_sdk import SIGNATURE_HEADER, AsyncTill, Till
from till_sdk.models import Invoice

URL = os.environ["TILL_URL"]
SECRET_KEY = os.environ["TILL_SECRET_KEY"]
PUBLISHABLE_KEY = os.environ["TILL_PUBLISHABLE_KEY"]
WEBHOOK_SECRET = os.environ["TILL_WEBHOOK_SECRET"]


def client(key: str = SECRET_KEY, **options: Any) -> Till:
    return Till(url=URL, key=key, **options)


def async_client(key: str = SECRET_KEY, **options: Any) -> AsyncTill:
    return AsyncTill(url=URL, key=key, **options)


till = client()


def order() -> Invoice:
    return till.invoices.create(amount="25.00", currency="USD")


@dataclass
class Asked:
    path: str
    idempotency_key: str | None
    at: float


Pass = Callable[[], httpx.Response]


class Network(httpx.BaseTransport):
    """One that may lose what passes: `meddle` gets each request's number, from 1, and the way to the server."""

    def __init__(self, meddle: Callable[[int, Pass], httpx.Response]) -> None:
        self.asked: list[Asked] = []
        self._meddle = meddle
        self._real = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(Asked(request.url.raw_path.decode(), request.headers.get("idempotency-key"), time.monotonic()))
        return self._meddle(len(self.asked), lambda: self._real.handle_request(request))


class AsyncNetwork(httpx.AsyncBaseTransport):
    """The same without holding up others: `meddle` gets each answer of the server, or raises."""

    def __init__(self, meddle: Callable[[int, httpx.Response], httpx.Response]) -> None:
        self.asked: list[Asked] = []
        self._meddle = meddle
        self._real = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(Asked(request.url.raw_path.decode(), request.headers.get("idempotency-key"), time.monotonic()))
        return self._meddle(len(self.asked), await self._real.handle_async_request(request))


class CutOff(httpx.SyncByteStream):
    """An answer that is cut off after its first event."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        assert isinstance(self._response.stream, httpx.SyncByteStream)
        text = b""
        for part in self._response.stream:
            text += part
            if (end := end_of_event(text)) is not None:
                yield re.sub(rb"retry: \d+", b"retry: 10", text[:end])
                raise httpx.ReadError("the connection was lost")

    def close(self) -> None:
        self._response.close()


class AsyncCutOff(httpx.AsyncByteStream):
    """The same without holding up others."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._response.stream, httpx.AsyncByteStream)
        text = b""
        async for part in self._response.stream:
            text += part
            if (end := end_of_event(text)) is not None:
                yield re.sub(rb"retry: \d+", b"retry: 10", text[:end])
                raise httpx.ReadError("the connection was lost")

    async def aclose(self) -> None:
        await self._response.aclose()


def end_of_event(text: bytes) -> int | None:
    start = text.find(b"data:")
    end = text.find(b"\n\n", start)
    return None if start < 0 or end < 0 else end + 2


@dataclass
class Delivery:
    body: bytes
    signature: str | None


class Endpoint:
    """An endpoint for webhooks, for as long as it is entered."""

    def __init__(self) -> None:
        self._came = threading.Condition()
        self._delivered: list[Delivery] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                with endpoint._came:
                    endpoint._delivered.append(Delivery(body, self.headers[SIGNATURE_HEADER]))
                    endpoint._came.notify_all()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    def __enter__(self) -> Endpoint:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def all(self, kinds: set[str]) -> list[Delivery]:
        """Waits until each of these kinds came at least once."""

        def missing() -> set[str]:
            return kinds - {json.loads(one.body)["type"] for one in self._delivered}

        with self._came:
            self._came.wait_for(lambda: not missing(), timeout=30)
            assert not missing()
            return list(self._delivered)

    def first(self, kind: str, invoice: str) -> Delivery:
        """Waits for this event of this invoice."""

        def found() -> Delivery | None:
            for one in self._delivered:
                event = json.loads(one.body)
                if event["type"] == kind and event["invoice_id"] == invoice:
                    return one
            return None

        with self._came:
            delivery = self._came.wait_for(found, timeout=30)
        assert delivery is not None, f"no {kind} of {invoice} came"
        return delivery
