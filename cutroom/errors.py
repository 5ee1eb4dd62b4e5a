"""Every error a caller can meet: its code, its HTTP status and its message, once."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """The closed set of error codes."""

    UNAUTHENTICATED = "UNAUTHENTICATED"
    INVALID_API_KEY = "INVALID_API_KEY"
    INSUFFICIENT_SCOPE = "INSUFFICIENT_SCOPE"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    ROLE_CANNOT_PRODUCE = "ROLE_CANNOT_PRODUCE"
    NOT_FOUND = "NOT_FOUND"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    UNSUPPORTED_SOURCE = "UNSUPPORTED_SOURCE"
    DURATION_UNKNOWN = "DURATION_UNKNOWN"
    INSUFFICIENT_CREDITS = "INSUFFICIENT_CREDITS"
    CONFLICT = "CONFLICT"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    IDEMPOTENCY_REPLAY = "IDEMPOTENCY_REPLAY"
    RATE_LIMITED = "RATE_LIMITED"
    PREVIEW_NOT_DOWNLOADABLE = "PREVIEW_NOT_DOWNLOADABLE"
    DOWNLOAD_TIER_NONE = "DOWNLOAD_TIER_NONE"
    FAILED_PRECONDITION = "FAILED_PRECONDITION"
    GONE = "GONE"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    INTERNAL = "INTERNAL"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a code always means on the wire."""

    status: int
    message: str


MEANINGS: dict[Code, Meaning] = {
    Code.UNAUTHENTICATED: Meaning(401, "Missing API key."),
    Code.INVALID_API_KEY: Meaning(401, "Invalid API key"),
    Code.INSUFFICIENT_SCOPE: Meaning(403, "The API key lacks the required scope."),
    Code.PERMISSION_DENIED: Meaning(403, "This is not permitted for the caller."),
    Code.ROLE_CANNOT_PRODUCE: Meaning(403, "The caller's workspace role cannot start products."),
    Code.NOT_FOUND: Meaning(404, "Resource not found."),
    Code.INVALID_ARGUMENT: Meaning(400, "The request contains invalid or missing fields."),
    Code.UNSUPPORTED_SOURCE: Meaning(422, "This source cannot be imported."),
    Code.DURATION_UNKNOWN: Meaning(422, "The duration of the media is not known yet."),
    Code.INSUFFICIENT_CREDITS: Meaning(429, "Not enough credits."),
    Code.CONFLICT: Meaning(409, "The request conflicts with the current state."),
    Code.ALREADY_EXISTS: Meaning(409, "This already exists."),
    Code.IDEMPOTENCY_REPLAY: Meaning(409, "Idempotency-Key was reused with a different request."),
    Code.RATE_LIMITED: Meaning(429, "API key concurrency limit reached"),
    Code.PREVIEW_NOT_DOWNLOADABLE: Meaning(409, "Only a preview of this dub exists so far."),
    Code.DOWNLOAD_TIER_NONE: Meaning(403, "Downloads are not available to this account."),
    Code.FAILED_PRECONDITION: Meaning(409, "A step that this depends on has failed."),
    Code.GONE: Meaning(410, "This operation has been retired."),
    Code.METHOD_NOT_ALLOWED: Meaning(405, "This method is not allowed here."),
    Code.INTERNAL: Meaning(500, "An unexpected error occurred."),
}


class CutroomError(Exception):
    """An answer other than success; whoever raises it decides code, details and, rarely, another message or status."""

    def __init__(
        self,
        code: Code,
        *,
        details: dict[str, Any] | None = None,
        message: str | None = None,
        headers: dict[str, str] | None = None,
        status: int | None = None,
    ) -> None:
        meaning = MEANINGS[code]
        super().__init__(message or meaning.message)
        self.code = code
        self.status = status or meaning.status
        self.message = message or meaning.message
        self.details = details or {}
        self.headers = headers or {}

    def envelope(self) -> dict[str, Any]:
        return {"error": {"code": self.code.value, "message": self.message, "details": self.details}}


def not_found() -> CutroomError:
    """Missing, or of another library: the caller cannot tell which."""
    return CutroomError(Code.NOT_FOUND)


def invalid_field(path: str, message: str) -> CutroomError:
    return invalid_fields([(path, message)])


def invalid_fields(faults: list[tuple[str, str]]) -> CutroomError:
    fields = [{"path": path, "message": message} for path, message in faults]
    return CutroomError(Code.INVALID_ARGUMENT, details={"fields": fields})
