"""Signatures: of a webhook that was really delivered, and of all that is not one."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest

from till_sdk import SignatureError, UnknownEvent, verify_webhook

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
