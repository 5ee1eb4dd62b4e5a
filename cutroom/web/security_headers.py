"""Security headers of every response; those that a response sets itself are kept."""

from collections.abc import Iterable

RawHeaders = list[tuple[bytes, bytes]]

# Responses that are no pages load nothing and are shown in no frame.
NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"
HSTS = "max-age=31536000"
# Applies to requests without CORS only. Media sets `cross-origin`, so that players on other sites can load it.
_DEFAULTS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": NO_CONTENT_POLICY,
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def default_headers(*, is_secure: bool) -> RawHeaders:
    """The headers in ASGI form; HSTS only if callers reach the service over TLS."""
    headers = _DEFAULTS | ({"Strict-Transport-Security": HSTS} if is_secure else {})
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def with_defaults(headers: Iterable[tuple[bytes, bytes]], defaults: RawHeaders) -> RawHeaders:
    """Add the default headers that are not set."""
    found = list(headers)
    names = {name.lower() for name, _ in found}
    return found + [(name, value) for name, value in defaults if name not in names]
