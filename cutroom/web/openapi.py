"""Builds the OpenAPI document: FastAPI's, plus security schemes, errors, examples and links."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from cutroom.errors import ERROR_SPECS, Code
from cutroom.web.links import add_links
from cutroom.web.operation import Operation
from cutroom.web.revisions import ETAG
from cutroom.web.schema import ErrorEnvelope
from cutroom.web.spending import PARAMETER as _SPENDING_LIMIT_HEADER

API_VERSION = "1.0.0"
EVERY_OPERATION = (
    Code.UNAUTHENTICATED,
    Code.INVALID_API_KEY,
    Code.INSUFFICIENT_SCOPE,
    Code.PERMISSION_DENIED,
    Code.RATE_LIMITED,
    Code.INTERNAL,
)
EVERY_POST = (Code.INVALID_ARGUMENT, Code.CONFLICT, Code.IDEMPOTENCY_REPLAY)
EVERY_CHANGE = (Code.INVALID_ARGUMENT,)

_EXAMPLE_DETAILS: dict[Code, dict[str, Any]] = {
    Code.INVALID_ARGUMENT: {"fields": [{"path": "name", "message": "This field is required."}]},
    Code.IDEMPOTENCY_REPLAY: {"pathMatch": True, "hashMatch": False},
    Code.INSUFFICIENT_SCOPE: {"required": ["videos:read"]},
    Code.INSUFFICIENT_CREDITS: {"required": 6.4, "available": 2, "shortfall": 4.4},
    Code.RATE_LIMITED: {"limit": "rate"},
}
_STATUS_DESCRIPTIONS = {
    400: "A field is missing, malformed, out of range, or conflicts with another.",
    401: "The credential is missing or invalid.",
    403: "The credential is valid but does not permit this operation.",
    404: "The resource does not exist in the caller's library.",
    409: "The request conflicts with the current state.",
    410: "What was asked for is no longer kept.",
    422: "The request is well formed, but its source cannot be processed.",
    429: "Too many requests (with `Retry-After`), or not enough credits (without).",
    500: "Internal error. Include the `X-Request-Id` header when you contact support.",
}
# Printable Latin-1, as HTTP headers are decoded, without spaces at its ends, which HTTP strips.
_PRINTABLE = r"^[\x21-\x7e\xa1-\xac\xae-\xff]([\x20-\x7e\xa1-\xac\xae-\xff]*[\x21-\x7e\xa1-\xac\xae-\xff])?$"
_IDEMPOTENCY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes the request idempotent: within 24 hours, the same key returns the first response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": _PRINTABLE},
}
_ETAG_HEADER = {
    "description": "The revision of the editable fields, for `If-Match`. It does not cover status, progress and URLs.",
    "schema": {"type": "string"},
}
_SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key (`cr_…`)."},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "An API key (`cr_…`)."},
    "speechKey": {
        "type": "apiKey",
        "in": "header",
        "name": "xi-api-key",
        "description": "An API key; accepted by speech operations only.",
    },
}


def describe(operation: Operation, path: str, options: dict[str, Any]) -> None:
    """Add the errors, scope, credentials and idempotency header implied by an operation to its route options."""
    methods = set(options.get("methods") or ())
    posts = "POST" in methods
    codes = [*EVERY_OPERATION, *operation.errors]
    if operation.access != "read":
        codes.append(Code.ROLE_CANNOT_PRODUCE if operation.access == "produce" else Code.PERMISSION_DENIED)
    if posts:
        codes.extend(EVERY_POST)
    if methods & {"PUT", "PATCH"}:
        codes.extend(EVERY_CHANGE)
    if operation.has_revisions and methods & {"PUT", "PATCH", "DELETE"}:
        codes.append(Code.CONFLICT)
    codes += [Code.FAILED_PRECONDITION] if operation.priced else []
    if "{" in path:
        codes.append(Code.NOT_FOUND)
    success = {200: {"headers": {ETAG: _ETAG_HEADER}}} if operation.has_revisions and "DELETE" not in methods else {}
    options["responses"] = {
        **success,
        **_error_responses(dict.fromkeys(codes)),
        **(options.get("responses") or {}),
    }
    credentials: list[dict[str, list[str]]] = [{"bearer": []}, {"apiKey": []}]
    extra: dict[str, Any] = {
        "x-required-scope": operation.scope.value,
        "x-access": operation.access.value,
        "security": [*credentials, {"speechKey": []}] if operation.speech else credentials,
    }
    if operation.further_scopes:
        extra["x-further-scopes"] = [scope.value for scope in operation.further_scopes]
    if operation.minimum_role is not None:
        extra["x-roles"] = [role.value for role in operation.minimum_role.and_above]
    if headers := _headers(operation, posts=posts):
        extra["parameters"] = headers
    options["openapi_extra"] = {**(options.get("openapi_extra") or {}), **extra}


def _headers(operation: Operation, *, posts: bool) -> list[dict[str, Any]]:
    idempotency = [_IDEMPOTENCY_HEADER] if posts and not operation.speech else []
    return [*idempotency, _SPENDING_LIMIT_HEADER] if operation.priced else idempotency


def _error_responses(codes: dict[Code, None]) -> dict[int | str, dict[str, Any]]:
    responses: dict[int | str, dict[str, Any]] = {}
    for code in codes:
        spec = ERROR_SPECS[code]
        response = responses.setdefault(
            spec.status,
            {
                "model": ErrorEnvelope,
                "description": _STATUS_DESCRIPTIONS[spec.status],
                "content": {"application/json": {"examples": {}}},
            },
        )
        error = {"code": code.value, "message": spec.message, "details": _EXAMPLE_DETAILS.get(code, {})}
        response["content"]["application/json"]["examples"][code.value] = {"value": {"error": error}}
    return responses


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, built once per application."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title,
            version=API_VERSION,
            summary=app.summary,
            description=app.description,
            routes=app.routes,
            tags=app.openapi_tags,
            license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
            servers=[{"url": "/", "description": "This installation; every path is under /v1."}],
        )
        _drop_framework_errors(schema)
        _drop_null_queries(schema)
        add_links(schema)
        schema["components"]["securitySchemes"] = _SECURITY_SCHEMES
        app.openapi_schema = schema
    return app.openapi_schema


def _drop_framework_errors(schema: dict[str, Any]) -> None:
    """Remove FastAPI's own 422 responses, which are never returned."""
    for operations in schema["paths"].values():
        for operation in operations.values():
            content = operation["responses"].get("422", {}).get("content", {}).get("application/json", {})
            if content.get("schema", {}).get("$ref", "").endswith("/HTTPValidationError"):
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        schema["components"]["schemas"].pop(name, None)


def _drop_null_queries(schema: dict[str, Any]) -> None:
    """Remove null from query parameter types; an omitted parameter is not null."""
    for operations in schema["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                others = [each for each in parameter["schema"].pop("anyOf", ()) if each != {"type": "null"}]
                parameter["schema"].update(others[0] if len(others) == 1 else {"anyOf": others} if others else {})
