"""Calls, lists and errors, and what the network can do to them."""

from __future__ import annotations

import asyncio
import inspect
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from till_sdk import (
    ApiError,
    AuthenticationError,
    IdempotencyError,
    InvalidRequestError,
    NoAnswerError,
    PermissionDeniedError,
    RateLimitError,
    Till,
    TillError,
)
from till_sdk.models import AddressDerivationCreate2ForwarderV1

from .shop import PUBLISHABLE_KEY, AsyncNetwork, Network, Pass, async_client, client, order, till


def refused(status: int, error: dict[str, str] | None = None, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": error or {}}, headers=[(name.replace("_", "-"), value) for name, value in headers.items()])


LIMITED = {"type": "rate_limit_error", "code": "rate_limited"}


def test_an_invoice_is_created_paid_with_the_test_helper_and_found_again() -> None:
    made = till.invoices.create(amount="25.00", currency="USD", customer_ref="order 7", metadata={"cart": "12"})
    assert (made.object, made.status, made.metadata) == ("invoice", "awaiting_payment", {"cart": "12"})
    assert made.expires_at > made.created_at > datetime.now(UTC) - timedelta(minutes=1)
    assert till.test_helpers.simulate_payment(made.id).status == "paid"
    assert till.invoices.retrieve(made.id).amounts_received[0].amount == "25.00"
    [payment] = till.payments.list(invoice=made.id)
    assert (payment.status, payment.invoice, payment.from_ is None) == ("credited", made.id, False)


def test_what_was_left_out_stays_as_it_is_and_none_clears_it() -> None:
    tomorrow = till.test_helpers.retrieve_clock().now + timedelta(days=1)
    link = till.payment_links.create(
        amount_type="fixed", amount="5.00", currency="USD", description="Tea", expires_at=tomorrow
    )
    assert link.expires_at == tomorrow
    assert till.payment_links.update(link.id, amount="6.00").description == "Tea"
    changed = till.payment_links.update(link.id, description=None, expires_at=None)
    assert (changed.description, changed.expires_at) == (None, None)
    with pytest.raises(ValueError, match="time zone"):
        till.payment_links.update(link.id, expires_at=datetime(2100, 1, 1))


def test_a_call_with_an_optional_body_can_be_made_without_one() -> None:
    assert till.customers.create().name is None
    invoice = order()
    till.test_helpers.simulate_payment(invoice.id, amount="30.00")
    refund = till.refunds.create(invoice.id)
    assert (refund.amount, refund.status) == ("5.00", "unclaimed")


def test_a_model_is_read_to_its_depths() -> None:
    derivation = till.checkout.retrieve_invoice(order().id).payment_options[0].address_derivation
    assert isinstance(derivation, AddressDerivationCreate2ForwarderV1)


def test_a_report_comes_as_text() -> None:
    assert till.reconciliation.export().startswith("section,asset,item,amount")
    start = till.test_helpers.retrieve_clock().now - timedelta(days=7)
    assert till.reconciliation.retrieve(from_=start.isoformat()).from_ == start


def test_iterating_over_a_list_goes_through_all_pages() -> None:
    reference = f"pages {uuid.uuid4()}"
    made = [till.invoices.create(amount="1.00", currency="USD", customer_ref=reference).id for _ in range(5)][::-1]
    network = Network(lambda _, real: real())
    assert [one.id for one in client(transport=network).invoices.list(limit=2, customer_ref=reference)] == made
    assert len(network.asked) == 3
    page = till.invoices.list(limit=2, customer_ref=reference).page()
    assert [one.id for one in page.data] == made[:2]
    rest = till.invoices.list(limit=2, customer_ref=reference, cursor=page.next_cursor)
    assert [one.id for one in rest] == made[2:]

    async def listed() -> list[str]:
        async with async_client() as other:
            first = await other.invoices.list(limit=2, customer_ref=reference).page()
            assert [one.id for one in first.data] == made[:2]
            return [one.id async for one in other.invoices.list(limit=2, customer_ref=reference)]

    assert asyncio.run(listed()) == made


def test_errors_have_the_class_of_their_type_and_the_code_of_the_api() -> None:
    with pytest.raises(InvalidRequestError) as missing:
        till.invoices.retrieve("inv_none")
    assert (missing.value.status, missing.value.code) == (404, "resource_missing")
    assert str(missing.value.request_id).startswith("req_")
    with pytest.raises(InvalidRequestError) as invalid:
        till.invoices.create(amount="x", currency="USD")
    assert (invalid.value.code, invalid.value.param) == ("parameter_invalid", "amount")
    with pytest.raises(AuthenticationError):
        client("till_test_sk_wrong").invoices.list().page()
    with pytest.raises(PermissionDeniedError):
        client(PUBLISHABLE_KEY).invoices.list().page()
    key = str(uuid.uuid4())
    till.invoices.create(amount="1.00", currency="USD", idempotency_key=key)
    with pytest.raises(IdempotencyError) as reused:
        till.invoices.create(amount="2.00", currency="USD", idempotency_key=key)
    assert reused.value.code == "idempotency_key_reused"


def test_a_call_whose_answer_was_lost_is_made_again_with_the_same_key_and_happens_once() -> None:
    def lose(count: int, real: Pass) -> httpx.Response:
        response = real()
        if count == 1:
            raise httpx.ReadError("the connection was lost")
        return httpx.Response(201, text='{"id": "inv_') if count == 2 else response

    reference = f"lost {uuid.uuid4()}"
    network = Network(lose)
    made = client(transport=network).invoices.create(amount="25.00", currency="USD", customer_ref=reference)
    assert len(network.asked) == 3
    assert len({one.idempotency_key for one in network.asked}) == 1
    assert [one.id for one in till.invoices.list(customer_ref=reference)] == [made.id]


def test_the_asynchronous_client_asks_again_in_the_same_way() -> None:
    def lose(count: int, response: httpx.Response) -> httpx.Response:
        if count == 1:
            raise httpx.ReadError("the connection was lost")
        return refused(503, retry_after="1") if count == 2 else response

    reference = f"lost {uuid.uuid4()}"
    network = AsyncNetwork(lose)

    async def made() -> str:
        async with async_client(transport=network) as other:
            return (await other.invoices.create(amount="25.00", currency="USD", customer_ref=reference)).id

    invoice = asyncio.run(made())
    assert len({one.idempotency_key for one in network.asked}) == 1
    assert network.asked[2].at - network.asked[1].at >= 0.99
    assert [one.id for one in till.invoices.list(customer_ref=reference)] == [invoice]


def test_a_server_in_trouble_is_asked_again_and_the_waiting_it_asks_for_is_kept() -> None:
    answers = [
        refused(503),
        refused(429, LIMITED, retry_after="1"),
        refused(409, {"type": "idempotency_error", "code": "idempotency_key_in_use"}),
    ]
    network = Network(lambda count, real: answers[count - 1] if count <= 3 else real())
    client(transport=network).invoices.create(amount="25.00", currency="USD")
    assert len(network.asked) == 4
    assert network.asked[2].at - network.asked[1].at >= 0.99


def test_a_longer_wait_than_a_minute_is_left_to_the_caller_and_so_is_a_failure_that_lasts() -> None:
    limited = Network(lambda _, real: refused(429, LIMITED, retry_after="3600"))
    with pytest.raises(RateLimitError) as error:
        client(transport=limited).invoices.retrieve("inv_1")
    assert (error.value.retry_after, len(limited.asked)) == (3600, 1)
    broken = Network(lambda _, real: httpx.Response(502, text="<h1>Bad gateway</h1>"))
    with pytest.raises(ApiError) as failure:
        client(transport=broken, max_retries=1).invoices.retrieve("inv_1")
    code: str = failure.value.code
    assert (code, len(broken.asked)) == ("http_502", 2)


def test_a_call_that_nobody_answers_names_the_key_to_repeat_it_with() -> None:
    def lose(_: int, real: Pass) -> httpx.Response:
        raise httpx.ConnectError("no route")

    with pytest.raises(NoAnswerError) as error:
        client(transport=Network(lose), max_retries=0).invoices.create(amount="1.00", currency="USD", idempotency_key="mine")
    assert error.value.idempotency_key == "mine"
    with pytest.raises(NoAnswerError, match="^GET /v1/refund_claims/… was not answered$"):
        client(transport=Network(lose), max_retries=0).refund_claims.retrieve("secret")


def arguments(call: Any) -> tuple[list[str], dict[str, Any]]:
    """Something for every argument that a call cannot do without."""
    needed = [one for one in inspect.signature(call).parameters.values() if one.default is one.empty]
    named = {one.name: "none" for one in needed if one.kind is one.KEYWORD_ONLY}
    return ["none" for one in needed if one.kind is one.POSITIONAL_ONLY], named


def test_every_call_leads_to_an_endpoint_of_the_server_in_both_clients() -> None:
    network = Network(lambda _, real: real())
    shop = client(transport=network, max_retries=0)
    codes: dict[tuple[str, str], str | None] = {}
    for name, resource in vars(shop).items():
        # The other tests still want their webhook secret.
        for method in [one for one in dir(resource) if not one.startswith("_") and one != "roll_webhook_secret"]:
            if name.startswith("_"):
                continue
            call = getattr(resource, method)
            positional, named = arguments(call)
            codes[name, method] = None
            try:
                made = call(*positional, **named)
                if hasattr(made, "page"):
                    made.page()
                elif hasattr(made, "__next__"):
                    next(made)
            except ApiError as error:
                codes[name, method] = error.code
    assert len(codes) > 50
    assert not {"route_not_found", "method_not_allowed", "parameter_unknown"} & set(codes.values())

    other_network = AsyncNetwork(lambda _, response: response)
    other_codes: dict[tuple[str, str], str | None] = {}

    async def ask_the_same() -> None:
        async with async_client(transport=other_network, max_retries=0) as other:
            for name, method in codes:
                call = getattr(getattr(other, name), method)
                positional, named = arguments(call)
                other_codes[name, method] = None
                made = call(*positional, **named)
                try:
                    if hasattr(made, "page"):
                        await made.page()
                    elif hasattr(made, "__anext__"):
                        await anext(made)
                    else:
                        await made
                except ApiError as error:
                    other_codes[name, method] = error.code

    asyncio.run(ask_the_same())
    assert other_codes == codes
    assert [one.path for one in other_network.asked] == [one.path for one in network.asked]


def test_an_id_is_one_segment_of_a_path_whatever_it_holds() -> None:
    network = Network(lambda _, real: real())
    with pytest.raises(InvalidRequestError):
        client(transport=network).invoices.retrieve("../payments?limit=1")
    assert network.asked[0].path == "/v1/invoices/..%2Fpayments%3Flimit%3D1"
    with pytest.raises(TillError):
        till.invoices.retrieve("")


def test_a_client_without_an_address_or_a_key_says_so_at_once() -> None:
    for wrong in ("", "pay.example.com", "ftp://example.com"):
        with pytest.raises(TillError, match="no address"):
            Till(url=wrong, key="till_test_sk_1")
    with pytest.raises(TillError, match="no key"):
        Till(url="https://pay.example.com", key="")
