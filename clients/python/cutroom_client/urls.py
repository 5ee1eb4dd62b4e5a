"""Checks the URLs that a service returns before they are opened."""

from urllib.parse import urljoin, urlsplit

from cutroom_client.errors import UnsafeUrlError

PORTS = {"http": 80, "https": 443}


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or PORTS.get(parts.scheme, 0)


def without_query(url: str) -> str:
    """A signed URL for messages, without what makes it valid."""
    scheme, host, port = origin(url)
    return f"{scheme}://{host}{'' if port == PORTS.get(scheme) else f':{port}'}/…"


def checked_url(url: str, *, base_url: str, after: str | None = None) -> str:
    """A signed URL that may be opened without the key: HTTPS anywhere, or the origin of the service itself.

    `after` is the URL that redirected to it, or that it is relative to.
    """
    absolute = urljoin(after or base_url, url)
    try:
        parts = urlsplit(absolute)
        same_origin = origin(absolute) == origin(base_url)
    except ValueError as error:
        raise UnsafeUrlError("the service returned a malformed URL") from error
    if not parts.hostname or parts.username is not None or parts.password is not None:
        raise UnsafeUrlError("the service returned a URL without a host, or with a user name")
    if parts.scheme != "https" and not same_origin:
        raise UnsafeUrlError(f"the service returned a URL that is not HTTPS: {without_query(absolute)}")
    return absolute


def checked_base_url(url: str) -> str:
    """The base URL without `/v1` and without a final slash."""
    parts = urlsplit(url)
    if parts.scheme not in PORTS or not parts.hostname or parts.username is not None or parts.query or parts.fragment:
        raise ValueError("base_url must be an http:// or https:// URL without a user name or query")
    return url.rstrip("/").removesuffix("/v1").rstrip("/")
