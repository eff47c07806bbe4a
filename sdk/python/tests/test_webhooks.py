"""Signatures: of a webhook that was really delivered, and of all that is not one."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest

from till_sdk import SignatureError, UnknownEvent, verify_webhook
from till_sdk.models import EVENTS

from .shop import WEBHOOK_SECRET, Endpoint, order, till


def test_a_delivered_webhook_is_verified_and_its_event_is_told_apart_by_its_type() -> None:
    with Endpoint() as endpoint:
        till.merchant.update_settings(webhook_url=endpoint.url)
        invoice = order()
        till.test_helpers.simulate_payment(invoice.id)
        delivery = endpoint.first("invoice.paid", invoice.id)
        till.merchant.update_settings(webhook_url=None)
    event = verify_webhook(delivery.body, delivery.signature, WEBHOOK_SECRET)
    assert event.type == "invoice.paid"
    assert event.data.object.id == invoice.id
    assert event.data.object.paid_at is not None
    assert verify_webhook(delivery.body.decode(), delivery.signature, WEBHOOK_SECRET) == event
    with pytest.raises(SignatureError):
        verify_webhook(delivery.body[:-2] + b" }", delivery.signature, WEBHOOK_SECRET)
    with pytest.raises(SignatureError):
        verify_webhook(delivery.body, delivery.signature, WEBHOOK_SECRET + "0")


def test_every_kind_of_event_that_can_be_made_to_happen_is_read_as_what_it_is() -> None:
    with Endpoint() as endpoint:
        till.merchant.update_settings(webhook_url=endpoint.url, manual_review_amount="1000.00")
        cancelled = till.invoices.cancel(order().id)
        till.test_helpers.simulate_payment(cancelled.id)
        paid = order()
        till.test_helpers.simulate_payment(paid.id, amount="10.00")
        till.test_helpers.simulate_payment(paid.id, amount="20.00")
        refund = till.refunds.create(paid.id)
        claim = till.refund_claims.retrieve(refund.claim_token or "")
        address = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
        till.refund_claims.claim(refund.claim_token or "", network=claim.networks[0].network, address=address)
        reversed_later = order()
        till.test_helpers.simulate_payment(reversed_later.id)
        [payment] = till.payments.list(invoice=reversed_later.id)
        till.test_helpers.reverse_payment(payment.id)
        large = till.invoices.create(amount="1000.00", currency="USD")
        till.test_helpers.simulate_payment(large.id)
        till.invoices.resolve_review(large.id, decision="accept", reason="a customer we know")
        link = till.payment_links.create(amount_type="payer_chosen", currency="USD")
        till.payment_links.update(link.id, description="Tips")
        till.payment_links.update(link.id, active=False)
        plan = till.plans.create(name="Tea club", amount="5.00", currency="USD", interval="month")
        subscription = till.subscriptions.create(customer=till.customers.create(name="Ada").id, plan=plan.id)
        till.test_helpers.simulate_payment(subscription.latest_invoice or "")
        till.subscriptions.pause(subscription.id)
        till.subscriptions.resume(subscription.id)
        till.subscriptions.cancel(subscription.id, at_period_end=True)
        till.test_helpers.advance_clock(advance_seconds=40 * 24 * 3600)
        kinds = {kind for kind in EVENTS if kind not in LEFT_OUT}
        deliveries = endpoint.all(kinds)
        till.merchant.update_settings(webhook_url=None, manual_review_amount=None)
    for delivery in deliveries:
        event = verify_webhook(delivery.body, delivery.signature, WEBHOOK_SECRET)
        assert type(event) is EVENTS[event.type]
        if event.type == "invoice.payment_reversed":
            assert event.data.payment.status == "reversed"
        if event.type == "invoice.review_resolved":
            assert event.data.review.decision == "accept"


# No test helper makes these happen within one history: a wrong token, a payment after the deadline, a renewal that stays unpaid.
LEFT_OUT = {"invoice.paid_late", "invoice.wrong_asset", "subscription.past_due"}

NOW = 1_800_000_000
SECRET = "whsec_test"
BODY = json.dumps(
    {
        "id": "evt_1",
        "object": "event",
        "type": "coupon.used",
        "livemode": False,
        "created_at": "2027-01-15T08:00:00Z",
        "invoice_id": None,
        "data": {"object": {"percent": "10"}},
    }
)


def signed(time: object, body: str = BODY, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), f"{time}.{body}".encode(), hashlib.sha256).hexdigest()


RIGHT = signed(NOW)


@pytest.mark.parametrize(
    "header",
    [
        f"t={NOW},v1={RIGHT}",
        f"t={NOW}, v1={'0' * 64}, v1={RIGHT}",
        f"t={NOW},v1={RIGHT},v1={'0' * 64},v0=abc",
        f"v2=new,v1={RIGHT.upper()},t={NOW}",
        f"t={NOW - 300},v1={signed(NOW - 300)}",
        f"t={NOW + 300},v1={signed(NOW + 300)}",
    ],
)
def test_any_of_several_signatures_is_enough_and_an_unknown_event_is_one_too(header: str) -> None:
    event: object = verify_webhook(BODY, header, SECRET, now=NOW)
    assert isinstance(event, UnknownEvent)
    assert (event.type, event.data) == ("coupon.used", {"object": {"percent": "10"}})


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "t=",
        f"v1={RIGHT}",
        f"t={NOW}",
        f"t={NOW},v1=",
        f"t={NOW},v1={RIGHT[:62]}",
        f"t={NOW},v1={RIGHT}00",
        f"t={NOW},v0={RIGHT}",
        f"t={NOW + 1},v1={RIGHT}",
        f"t=now,v1={signed('now')}",
        f"t=\u0661,v1={signed(chr(0x661))}",
        f"t=-{NOW},v1={signed(-NOW)}",
        f"t={NOW - 301},v1={signed(NOW - 301)}",
        f"t={NOW + 301},v1={signed(NOW + 301)}",
        f"t={NOW},v1={signed(NOW, BODY + ' ')}",
        f"t={NOW},v1={signed(NOW, BODY, 'whsec_other')}",
    ],
)
def test_what_proves_nothing_is_refused(header: str | None) -> None:
    with pytest.raises(SignatureError):
        verify_webhook(BODY, header, SECRET, now=NOW)


def test_an_empty_secret_signs_nothing() -> None:
    with pytest.raises(SignatureError):
        verify_webhook(BODY, f"t={NOW},v1={signed(NOW, BODY, '')}", "", now=NOW)
