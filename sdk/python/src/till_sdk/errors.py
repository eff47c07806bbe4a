"""What can go wrong. Every refusal of the API is an `ApiError` with the code that the API gave it."""

from __future__ import annotations

from typing import cast

from .models import ErrorCode, ErrorType


class TillError(Exception):
    """Something was refused, failed, or was never answered."""


class ApiError(TillError):
    """The API answered with an error. Branch on `code`; the message is for people."""

    def __init__(self, status: int, error: dict[str, object], retry_after: float | None) -> None:
        def text(name: str) -> str | None:
            value = error.get(name)
            return value if isinstance(value, str) else None

        super().__init__(text("message") or f"the server answered with status {status}")
        self.status = status
        self.type = cast(ErrorType, text("type") or "api_error")
        # An answer of something in between knows no codes.
        self.code = cast(ErrorCode, text("code") or f"http_{status}")
        """One of these, or one that only a newer server knows."""
        self.param = text("param")
        """The field concerned, when there is one."""
        self.doc_url = text("doc_url")
        self.request_id = text("request_id")
        """Tell it to whoever runs the server."""
        self.retry_after = retry_after
        """Seconds after which the server wants to be asked again, when it said so."""


class InvalidRequestError(ApiError):
    """The request has to be changed (400, 404, 405, 409, 413, 415)."""


class AuthenticationError(ApiError):
    """The key is missing, unknown or was replaced (401)."""


class PermissionDeniedError(ApiError):
    """The key may not do this (403)."""


class IdempotencyError(ApiError):
    """The idempotency key was used for something else, or is still being worked on (409)."""


class RateLimitError(ApiError):
    """Too many requests, for longer than this client wants to wait (429)."""


class NoAnswerError(TillError):
    """No answer came: no connection, or none that lasted.

    What was asked for may have happened: ask again with the same idempotency key.
    """

    def __init__(self, message: str, idempotency_key: str | None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key
        """The key of the request that was not answered; None for one that changes nothing."""


class SignatureError(TillError):
    """A webhook whose signature does not prove that it came from the server.

    Answer it with status 400 and do nothing else.
    """


_CLASSES: dict[str, type[ApiError]] = {
    "invalid_request_error": InvalidRequestError,
    "authentication_error": AuthenticationError,
    "permission_error": PermissionDeniedError,
    "idempotency_error": IdempotencyError,
    "rate_limit_error": RateLimitError,
}


def error_from(status: int, body: object, retry_after: float | None) -> ApiError:
    """The error that an answer with this status and body is."""
    found = body.get("error") if isinstance(body, dict) else None
    error: dict[str, object] = found if isinstance(found, dict) else {}
    return _CLASSES.get(str(error.get("type")), ApiError)(status, error, retry_after)
