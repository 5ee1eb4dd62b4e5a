"""The OpenAPI document: what FastAPI derives from the code, with our security, errors and examples added."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from cutroom.errors import MEANINGS, Code
from cutroom.web.links import add_links
from cutroom.web.operation import Operation
from cutroom.web.schema import ErrorEnvelope

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

_EXAMPLE_DETAILS: dict[Code, dict[str, Any]] = {
    Code.INVALID_ARGUMENT: {"fields": [{"path": "name", "message": "This field is required."}]},
    Code.IDEMPOTENCY_REPLAY: {"pathMatch": True, "hashMatch": False},
    Code.INSUFFICIENT_SCOPE: {"required": ["videos:read"]},
    Code.INSUFFICIENT_CREDITS: {"required": 6.4, "available": 2, "shortfall": 4.4},
    Code.RATE_LIMITED: {"limit": "rate"},
}
_STATUS_WORDS = {
    400: "A field is missing, malformed, out of bounds, or at odds with another.",
    401: "No credential, or one that opens nothing.",
    403: "The credential is good, but not for this.",
    404: "There is no such resource in the caller's library.",
    409: "The request is at odds with the present state.",
    422: "The request is well formed, but its source cannot be worked with.",
    429: "Too many requests (with `Retry-After`), or too few credits (without).",
    500: "Our fault; the answer's `X-Request-Id` helps us find it.",
}
_IDEMPOTENCY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key within 24 hours brings the first answer again instead of a second effect.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}
_SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key (`cr_…`)."},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "An API key (`cr_…`)."},
    "speechKey": {
        "type": "apiKey",
        "in": "header",
        "name": "xi-api-key",
        "description": "An API key, as speech clients send it; speech operations only.",
    },
}


def describe(operation: Operation, path: str, options: dict[str, Any]) -> None:
    """Add to a route's options what its declaration implies: errors, scope, credentials, replay."""
    posts = "POST" in (options.get("methods") or ())
    codes = [*EVERY_OPERATION, *operation.errors]
    if operation.access != "read":
        codes.append(Code.ROLE_CANNOT_PRODUCE if operation.access == "produce" else Code.PERMISSION_DENIED)
    if posts:
        codes.extend(EVERY_POST)
    if "{" in path:
        codes.append(Code.NOT_FOUND)
    options["responses"] = {**_error_responses(dict.fromkeys(codes)), **(options.get("responses") or {})}
    credentials: list[dict[str, list[str]]] = [{"bearer": []}, {"apiKey": []}]
    extra: dict[str, Any] = {
        "x-required-scope": operation.scope.value,
        "x-access": operation.access.value,
        "security": [*credentials, {"speechKey": []}] if operation.speech else credentials,
    }
    if posts and not operation.speech:
        extra["parameters"] = [_IDEMPOTENCY_HEADER]
    options["openapi_extra"] = {**(options.get("openapi_extra") or {}), **extra}


def _error_responses(codes: dict[Code, None]) -> dict[int | str, dict[str, Any]]:
    responses: dict[int | str, dict[str, Any]] = {}
    for code in codes:
        meaning = MEANINGS[code]
        response = responses.setdefault(
            meaning.status,
            {
                "model": ErrorEnvelope,
                "description": _STATUS_WORDS[meaning.status],
                "content": {"application/json": {"examples": {}}},
            },
        )
        error = {"code": code.value, "message": meaning.message, "details": _EXAMPLE_DETAILS.get(code, {})}
        response["content"]["application/json"]["examples"][code.value] = {"value": {"error": error}}
    return responses


def document(app: FastAPI) -> dict[str, Any]:
    """The document, built once."""
    if app.openapi_schema is None:
        described = get_openapi(
            title=app.title,
            version=API_VERSION,
            summary=app.summary,
            description=app.description,
            routes=app.routes,
            tags=app.openapi_tags,
            license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
            servers=[{"url": "/", "description": "This installation; every path is under /v1."}],
        )
        _drop_framework_errors(described)
        _drop_null_queries(described)
        add_links(described)
        described["components"]["securitySchemes"] = _SECURITY_SCHEMES
        app.openapi_schema = described
    return app.openapi_schema


def _drop_framework_errors(described: dict[str, Any]) -> None:
    """FastAPI documents a 422 of its own that no caller ever meets."""
    for operations in described["paths"].values():
        for operation in operations.values():
            content = operation["responses"].get("422", {}).get("content", {}).get("application/json", {})
            if content.get("schema", {}).get("$ref", "").endswith("/HTTPValidationError"):
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        described["components"]["schemas"].pop(name, None)


def _drop_null_queries(described: dict[str, Any]) -> None:
    """A query that is left out is not null: nobody can send that."""
    for operations in described["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                others = [each for each in parameter["schema"].pop("anyOf", ()) if each != {"type": "null"}]
                parameter["schema"].update(others[0] if len(others) == 1 else {"anyOf": others} if others else {})
