"""Whether a webhook came from the server, and when."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time

from ._decode import event
from .errors import SignatureError
from .models import Event

SIGNATURE_HEADER = "x-service-signature"
"""The header that a webhook's signature is in."""


def _parse(header: str) -> tuple[str, list[str]]:
    signed_at: str | None = None
    values: list[str] = []
    for part in header.split(","):
        scheme, _, value = part.strip().partition("=")
        if scheme == "t" and signed_at is None:
            signed_at = value
        elif scheme == "v1" and re.fullmatch("[0-9a-fA-F]{64}", value):
            values.append(value.lower())
    if signed_at is None or not re.fullmatch("[0-9]{1,15}", signed_at):
        raise SignatureError("the signature has no time")
    return signed_at, values


def verify_webhook(
    raw_body: bytes | str,
    header: str | None,
    secret: str,
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> Event:
    """The event that a webhook brought, once its signature is found to be right; raises `SignatureError` otherwise.

    `raw_body` is the body as it came, before anything parsed it. Deliveries repeat: do what an event asks for once per `id`.
    `now` (seconds since 1970) is for tests.
    """
    if not header:
        raise SignatureError(f"there is no {SIGNATURE_HEADER} header")
    if not secret:
        raise SignatureError("there is no webhook secret to compare with")
    signed_at, values = _parse(header)
    if abs((time.time() if now is None else now) - int(signed_at)) > tolerance_seconds:
        raise SignatureError("the signature is too old, or from the future")
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    expected = hmac.new(secret.encode(), f"{signed_at}.".encode() + body, hashlib.sha256).hexdigest()
    # All are compared, each in constant time: while a secret is replaced there are two.
    if not any([hmac.compare_digest(value, expected) for value in values]):
        raise SignatureError("the signature is not of this body and secret")
    return event(json.loads(body))
