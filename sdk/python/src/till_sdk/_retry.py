"""When a request is worth asking again, and after how long."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

import httpx

from .errors import ApiError, NoAnswerError, error_from

LONGEST_WAIT_S = 60.0
"""A longer wait than this is left to the caller."""
FIRST_WAIT_S = 0.5
LONGEST_BACKOFF_S = 8.0
RETRIED = frozenset({408, 429, 500, 502, 503, 504})


def can_retry(error: Exception | None) -> bool:
    """Whether the same request may be answered differently later."""
    if isinstance(error, ApiError):
        return error.status in RETRIED or error.code == "idempotency_key_in_use"
    return error is None or isinstance(error, NoAnswerError)


def wait_before(attempt: int, error: Exception | None) -> float | None:
    """How long to wait before this attempt, 1 being the first repetition; None when that is for the caller to decide."""
    if isinstance(error, ApiError) and error.retry_after is not None:
        return error.retry_after if error.retry_after <= LONGEST_WAIT_S else None
    most: float = min(FIRST_WAIT_S * 2.0 ** (attempt - 1), LONGEST_BACKOFF_S)
    return most / 2 + random.random() * most / 2


def _retry_after(response: httpx.Response) -> float | None:
    """The seconds of a `Retry-After` header, which may also name a date."""
    text = response.headers.get("retry-after", "")
    if text.isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def refusal(response: httpx.Response) -> ApiError:
    """The error that an answer is, once it has been read."""
    try:
        body = response.json()
    except ValueError:
        body = None
    return error_from(response.status_code, body, _retry_after(response))
