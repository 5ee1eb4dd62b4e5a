"""What the client raises: one class per error code of the API, and what can happen on the way to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from cutroom_client.models import Job


__all__ = [
    "AlreadyExistsError",
    "ApiError",
    "CancelledError",
    "ChecksumError",
    "ConflictError",
    "ConnectionFailedError",
    "CutroomError",
    "DownloadTierNoneError",
    "DurationUnknownError",
    "FailedPreconditionError",
    "GoneError",
    "IdempotencyReplayError",
    "InsufficientCreditsError",
    "InsufficientScopeError",
    "InternalError",
    "InvalidApiKeyError",
    "InvalidArgumentError",
    "JobCancelledError",
    "JobFailedError",
    "MethodNotAllowedError",
    "NotFoundError",
    "PermissionDeniedError",
    "PreviewNotDownloadableError",
    "RateLimitedError",
    "RoleCannotProduceError",
    "SpendingLimitError",
    "UnauthenticatedError",
    "UnexpectedResponseError",
    "UnsafeUrlError",
    "UnsupportedSourceError",
    "WaitTimeoutError",
    "WebhookVerificationError",
]


class CutroomError(Exception):
    """The base of everything that this client raises on purpose."""


class ConnectionFailedError(CutroomError):
    """No response came, after the retries that are safe. Whether the request took effect may be unknown."""


class UnexpectedResponseError(CutroomError):
    """The response is not one of Cutroom's: a redirect, a page of a proxy, or a broken body."""


class UnsafeUrlError(CutroomError):
    """The service returned a URL that this client does not open."""


class ChecksumError(CutroomError):
    """Received or sent bytes differ from what they should be."""


class WaitTimeoutError(CutroomError, TimeoutError):
    """A job was not finished when the given time was up; it continues."""


class WebhookVerificationError(CutroomError):
    """A webhook request is not genuine, or too old."""


class ApiError(CutroomError):
    """An error response. Branch on the class, or on `code`; `details` are machine-readable context."""

    code: ClassVar[str] = ""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        code: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.details = dict(details or {})
        self.request_id = request_id
        self.retry_after = retry_after
        if code is not None:
            self.code = code  # type: ignore[misc]  # a code that this version does not know

    def __str__(self) -> str:
        reference = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.code}: {self.message}{reference}"


class UnauthenticatedError(ApiError):
    code = "UNAUTHENTICATED"


class InvalidApiKeyError(ApiError):
    code = "INVALID_API_KEY"


class InsufficientScopeError(ApiError):
    code = "INSUFFICIENT_SCOPE"


class PermissionDeniedError(ApiError):
    code = "PERMISSION_DENIED"


class RoleCannotProduceError(ApiError):
    code = "ROLE_CANNOT_PRODUCE"


class NotFoundError(ApiError):
    code = "NOT_FOUND"


class InvalidArgumentError(ApiError):
    code = "INVALID_ARGUMENT"

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Path and message of each field that was rejected."""
        return [(each["path"], each["message"]) for each in self.details.get("fields", [])]

    def __str__(self) -> str:
        return "; ".join([super().__str__(), *(f"{path}: {message}" for path, message in self.fields)])


class UnsupportedSourceError(ApiError):
    code = "UNSUPPORTED_SOURCE"


class DurationUnknownError(ApiError):
    code = "DURATION_UNKNOWN"


class InsufficientCreditsError(ApiError):
    code = "INSUFFICIENT_CREDITS"


class ConflictError(ApiError):
    code = "CONFLICT"


class AlreadyExistsError(ApiError):
    code = "ALREADY_EXISTS"


class IdempotencyReplayError(ApiError):
    code = "IDEMPOTENCY_REPLAY"


class RateLimitedError(ApiError):
    code = "RATE_LIMITED"


class PreviewNotDownloadableError(ApiError):
    code = "PREVIEW_NOT_DOWNLOADABLE"


class DownloadTierNoneError(ApiError):
    code = "DOWNLOAD_TIER_NONE"


class FailedPreconditionError(ApiError):
    code = "FAILED_PRECONDITION"

    @property
    def reason(self) -> str | None:
        """Why, where there are several reasons, such as `quota` or `over_limit`."""
        reason = self.details.get("reason")
        return reason if isinstance(reason, str) else None


class SpendingLimitError(FailedPreconditionError):
    """The price is above `max_credits`; nothing was charged."""


class GoneError(ApiError):
    code = "GONE"


class MethodNotAllowedError(ApiError):
    code = "METHOD_NOT_ALLOWED"


class InternalError(ApiError):
    code = "INTERNAL"


class CancelledError(ApiError):
    """A job was canceled; only jobs have this code."""

    code = "CANCELLED"


class JobFailedError(CutroomError):
    """A job failed, and what it cost was returned. `error` is an instance of the class of its code."""

    def __init__(self, job: Job, error: ApiError) -> None:
        super().__init__(f"{job.id} failed: {error}")
        self.job = job
        self.error = error

    @property
    def code(self) -> str:
        return self.error.code


class JobCancelledError(JobFailedError):
    """A job was canceled."""


def error_classes() -> dict[str, type[ApiError]]:
    """The class of each code."""
    return {each.code: each for each in ApiError.__subclasses__()}


def api_error(
    error: Mapping[str, Any],
    *,
    status: int,
    request_id: str | None = None,
    retry_after: float | None = None,
) -> ApiError:
    """The typed form of an error of a response or a job."""
    code, details = str(error.get("code", "")), error.get("details")
    known = error_classes().get(code)
    details = details if isinstance(details, Mapping) else {}
    if known is FailedPreconditionError and details.get("reason") == "over_limit":
        known = SpendingLimitError
    return (known or ApiError)(
        str(error.get("message", "")),
        status=status,
        details=details,
        request_id=request_id,
        retry_after=retry_after,
        code=None if known else code,
    )
