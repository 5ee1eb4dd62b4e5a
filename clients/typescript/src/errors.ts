import type { Job } from "./generated/schemas.js";

/** The base class of all errors of this package. */
export class CutroomError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No complete response: the connection failed, or took too long. `cause` has the reason. */
export class ConnectionFailedError extends CutroomError {}

/** The response is not one of Cutroom's: a redirect, a page of a proxy, or a broken body. */
export class UnexpectedResponseError extends CutroomError {
  constructor(
    message: string,
    readonly status: number,
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** `wait` took longer than its `timeout`; the job continues. */
export class WaitTimeoutError extends CutroomError {}

/** A webhook was not signed with this secret, or is too old. */
export class WebhookVerificationError extends CutroomError {}

/** What an error response says. */
export interface ErrorResponse {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** `X-Request-Id`, for the operator of the service. */
  readonly requestId: string | undefined;
  /** `Retry-After`, in seconds. */
  readonly retryAfter: number | undefined;
}

/** The API refused a request. There is a subclass for each `code`. */
export class ApiError extends CutroomError implements ErrorResponse {
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(response: ErrorResponse) {
    super(`${response.code}: ${response.message}`);
    this.status = response.status;
    this.code = response.code;
    this.details = response.details;
    this.requestId = response.requestId;
    this.retryAfter = response.retryAfter;
  }
}

export class InvalidArgumentError extends ApiError {
  /** Every invalid field, with its own message. */
  get fields(): { path: string; message: string }[] {
    const fields = this.details["fields"];
    return Array.isArray(fields) ? fields : [];
  }
}
export class UnauthenticatedError extends ApiError {}
export class InvalidApiKeyError extends ApiError {}
export class InsufficientScopeError extends ApiError {}
export class PermissionDeniedError extends ApiError {}
export class RoleCannotProduceError extends ApiError {}
export class DownloadTierNoneError extends ApiError {}
export class NotFoundError extends ApiError {}
export class MethodNotAllowedError extends ApiError {}
export class ConflictError extends ApiError {}
export class AlreadyExistsError extends ApiError {}
export class IdempotencyReplayError extends ApiError {}
export class FailedPreconditionError extends ApiError {}
export class PreviewNotDownloadableError extends ApiError {}
export class GoneError extends ApiError {}
export class UnsupportedSourceError extends ApiError {}
export class DurationUnknownError extends ApiError {}
export class RateLimitedError extends ApiError {}
export class InsufficientCreditsError extends ApiError {}
export class InternalError extends ApiError {}

/** A job was canceled; only jobs have this code. */
export class CancelledError extends ApiError {}

/** The request would have cost more than `maxCredits`; nothing was charged. */
export class SpendingLimitError extends FailedPreconditionError {}

type ApiErrorClass = new (response: ErrorResponse) => ApiError;

/** The class of each error code. */
export const ERROR_CLASSES: Readonly<Record<string, ApiErrorClass>> = {
  INVALID_ARGUMENT: InvalidArgumentError,
  UNAUTHENTICATED: UnauthenticatedError,
  INVALID_API_KEY: InvalidApiKeyError,
  INSUFFICIENT_SCOPE: InsufficientScopeError,
  PERMISSION_DENIED: PermissionDeniedError,
  ROLE_CANNOT_PRODUCE: RoleCannotProduceError,
  DOWNLOAD_TIER_NONE: DownloadTierNoneError,
  NOT_FOUND: NotFoundError,
  METHOD_NOT_ALLOWED: MethodNotAllowedError,
  CONFLICT: ConflictError,
  ALREADY_EXISTS: AlreadyExistsError,
  IDEMPOTENCY_REPLAY: IdempotencyReplayError,
  FAILED_PRECONDITION: FailedPreconditionError,
  PREVIEW_NOT_DOWNLOADABLE: PreviewNotDownloadableError,
  GONE: GoneError,
  UNSUPPORTED_SOURCE: UnsupportedSourceError,
  DURATION_UNKNOWN: DurationUnknownError,
  RATE_LIMITED: RateLimitedError,
  INSUFFICIENT_CREDITS: InsufficientCreditsError,
  INTERNAL: InternalError,
  CANCELLED: CancelledError,
};

export function apiError(response: ErrorResponse): ApiError {
  if (response.code === "FAILED_PRECONDITION" && response.details["reason"] === "over_limit") {
    return new SpendingLimitError(response);
  }
  const known = Object.hasOwn(ERROR_CLASSES, response.code) ? ERROR_CLASSES[response.code] : undefined;
  return new (known ?? ApiError)(response);
}

/** A job failed, and what it cost was returned. `error` is an instance of the class of its code. */
export class JobFailedError extends CutroomError {
  constructor(
    readonly job: Job,
    readonly error: ApiError,
  ) {
    super(`${job.id} failed: ${error.message}`);
  }

  get code(): string {
    return this.error.code;
  }
}

/** A job was canceled. */
export class JobCancelledError extends JobFailedError {}

export function jobError(job: Job): JobFailedError {
  const { code = "INTERNAL", message = "", details = {} } = job.error ?? {};
  const error = apiError({ status: 200, code, message, details, requestId: undefined, retryAfter: undefined });
  return new (code === "CANCELLED" ? JobCancelledError : JobFailedError)(job, error);
}

/** The file could not be sent. `state` resumes the upload later, unless the session has ended. */
export class UploadError extends CutroomError {
  constructor(
    message: string,
    readonly status?: number,
    readonly reason?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The file could not be fetched. */
export class DownloadError extends CutroomError {
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
