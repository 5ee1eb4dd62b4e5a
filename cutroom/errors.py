"""Defines every API error code with its HTTP status and default message."""

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
class ErrorSpec:
    """The status and default message of a code."""

    status: int
    message: str


ERROR_SPECS: dict[Code, ErrorSpec] = {
    Code.UNAUTHENTICATED: ErrorSpec(401, "Missing API key."),
    Code.INVALID_API_KEY: ErrorSpec(401, "Invalid API key"),
    Code.INSUFFICIENT_SCOPE: ErrorSpec(403, "The API key lacks the required scope."),
    Code.PERMISSION_DENIED: ErrorSpec(403, "This is not permitted for the caller."),
    Code.ROLE_CANNOT_PRODUCE: ErrorSpec(403, "The caller's workspace role cannot start products."),
    Code.NOT_FOUND: ErrorSpec(404, "Resource not found."),
    Code.INVALID_ARGUMENT: ErrorSpec(400, "The request contains invalid or missing fields."),
    Code.UNSUPPORTED_SOURCE: ErrorSpec(422, "This source cannot be imported."),
    Code.DURATION_UNKNOWN: ErrorSpec(422, "The duration of the media is not known yet."),
    Code.INSUFFICIENT_CREDITS: ErrorSpec(429, "Not enough credits."),
    Code.CONFLICT: ErrorSpec(409, "The request conflicts with the current state."),
    Code.ALREADY_EXISTS: ErrorSpec(409, "This already exists."),
    Code.IDEMPOTENCY_REPLAY: ErrorSpec(409, "Idempotency-Key was reused with a different request."),
    Code.RATE_LIMITED: ErrorSpec(429, "API key concurrency limit reached"),
    Code.PREVIEW_NOT_DOWNLOADABLE: ErrorSpec(409, "Only a preview of this dub exists so far."),
    Code.DOWNLOAD_TIER_NONE: ErrorSpec(403, "Downloads are not available to this account."),
    Code.FAILED_PRECONDITION: ErrorSpec(409, "A step that this depends on has failed."),
    Code.GONE: ErrorSpec(410, "This operation has been retired."),
    Code.METHOD_NOT_ALLOWED: ErrorSpec(405, "This method is not allowed here."),
    Code.INTERNAL: ErrorSpec(500, "An unexpected error occurred."),
}


class CutroomError(Exception):
    """An error response; code and details, and optionally another message or status, are set where it is raised."""

    def __init__(
        self,
        code: Code,
        *,
        details: dict[str, Any] | None = None,
        message: str | None = None,
        headers: dict[str, str] | None = None,
        status: int | None = None,
    ) -> None:
        spec = ERROR_SPECS[code]
        super().__init__(message or spec.message)
        self.code = code
        self.status = status or spec.status
        self.message = message or spec.message
        self.details = details or {}
        self.headers = headers or {}

    def envelope(self) -> dict[str, Any]:
        return {"error": {"code": self.code.value, "message": self.message, "details": self.details}}


def not_found() -> CutroomError:
    """Missing or owned by another library; the response does not reveal which."""
    return CutroomError(Code.NOT_FOUND)


def invalid_field(path: str, message: str) -> CutroomError:
    return invalid_fields([(path, message)])


def invalid_fields(errors: list[tuple[str, str]]) -> CutroomError:
    fields = [{"path": path, "message": message} for path, message in errors]
    return CutroomError(Code.INVALID_ARGUMENT, details={"fields": fields})
