"""Live streams that break off."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import httpx
import pytest

from till_sdk import InvalidRequestError, NoAnswerError

from .shop import PUBLISHABLE_KEY, AsyncCutOff, AsyncNetwork, CutOff, Network, Pass, async_client, client, order, till


def cut(real: Pass) -> httpx.Response:
    response = real()
    return httpx.Response(response.status_code, headers=response.headers, stream=CutOff(response))


def test_a_stream_goes_on_where_it_broke_off_with_every_event_once_and_in_order() -> None:
    invoice = order()
    till.test_helpers.simulate_payment(invoice.id, amount="10.00")
    network = Network(lambda _, real: cut(real))
    seen: list[tuple[int, str]] = []
    for event in client(transport=network).invoices.events(invoice.id):
        seen.append((event.id, event.type))
        if event.type == "invoice.partially_paid":
            till.test_helpers.simulate_payment(invoice.id, amount="15.00")
        if event.invoice.status == "paid":
            break
    assert [number for number, _ in seen] == list(range(1, len(seen) + 1))
    assert {"invoice.created", "invoice.partially_paid", "invoice.paid"} <= {kind for _, kind in seen}
    assert len(network.asked) == len(seen)


def test_the_asynchronous_client_resumes_in_the_same_way() -> None:
    invoice = order()
    till.test_helpers.simulate_payment(invoice.id)
    network = AsyncNetwork(
        lambda _, response: httpx.Response(response.status_code, headers=response.headers, stream=AsyncCutOff(response))
    )

    async def watched() -> list[int]:
        seen = []
        async with async_client(transport=network) as other:
            async for event in other.invoices.events(invoice.id):
                seen.append(event.id)
                if event.invoice.status == "paid":
                    break
        return seen

    seen = asyncio.run(watched())
    assert seen == list(range(1, len(seen) + 1))
    assert len(network.asked) == len(seen)


def test_a_stream_can_begin_after_an_event_with_the_publishable_key_too() -> None:
    invoice = order()
    till.test_helpers.simulate_payment(invoice.id)
    first = next(client(PUBLISHABLE_KEY).invoices.events(invoice.id, after=1))
    assert (first.id, first.type) == (2, "invoice.detected")


def test_a_stream_that_cannot_be_opened_says_why_at_once_or_after_some_tries() -> None:
    with pytest.raises(InvalidRequestError):
        next(till.invoices.events("inv_none"))

    def lose(_: int, real: Pass) -> httpx.Response:
        raise httpx.ConnectError("no route")

    network = Network(lose)
    with pytest.raises(NoAnswerError):
        next(client(transport=network, max_retries=1).invoices.events("inv_1"))
    assert len(network.asked) == 2


def test_a_stream_on_which_nothing_happens_is_opened_again_as_often_as_it_is_cut() -> None:
    invoice = order()
    quiet = "retry: 700\n\n: heartbeat\n\n"
    network = Network(lambda count, real: real() if count > 5 else httpx.Response(200, text=quiet))
    assert next(client(transport=network, max_retries=1).invoices.events(invoice.id)).id == 1
    times = [one.at for one in network.asked]
    assert len(times) == 6
    assert all(later - earlier >= 0.69 for earlier, later in pairwise(times))
    ending = Network(lambda _, real: httpx.Response(200, text="retry: 10\n\n"))
    with pytest.raises(NoAnswerError, match="ends each time"):
        next(client(transport=ending, max_retries=1).invoices.events(invoice.id))
