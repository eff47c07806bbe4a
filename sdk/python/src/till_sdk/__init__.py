"""Takes stablecoin and crypto payments with a Till server."""

from ._client import AsyncTill, Till
from ._decode import UnknownEvent
from ._pages import AsyncPages, Page, Pages
from ._values import NOT_GIVEN, NotGiven
from .errors import (
    ApiError,
    AuthenticationError,
    IdempotencyError,
    InvalidRequestError,
    NoAnswerError,
    PermissionDeniedError,
    RateLimitError,
    SignatureError,
    TillError,
)
from .models import Event
from .webhooks import SIGNATURE_HEADER, verify_webhook

__all__ = [
    "NOT_GIVEN",
    "SIGNATURE_HEADER",
    "ApiError",
    "AsyncPages",
    "AsyncTill",
    "AuthenticationError",
    "Event",
    "IdempotencyError",
    "InvalidRequestError",
    "NoAnswerError",
    "NotGiven",
    "Page",
    "Pages",
    "PermissionDeniedError",
    "RateLimitError",
    "SignatureError",
    "Till",
    "TillError",
    "UnknownEvent",
    "verify_webhook",
]
