"""TLS settings that the HTTP clients of all engines share."""

import ssl
from functools import cache


@cache
def tls_context() -> ssl.SSLContext:
    """The default settings, loaded once: reading the certificate authorities takes 50 ms of CPU for each client."""
    import httpx2  # noqa: PLC0415 - optional dependency

    return httpx2.create_ssl_context(trust_env=False)
