"""HTTP client for remote audio and image engines, bounded in time and response size."""

import time
from typing import Any

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.tls import tls_context

# 4xx statuses worth retrying.
_RETRYABLE_STATUSES = frozenset({408, 409, 425, 429})


class RemoteClient:
    """Sends each request once; callers decide on retries."""

    def __init__(self, base_url: str, api_key: str, *, timeout_seconds: float) -> None:
        try:
            import httpx2  # noqa: PLC0415 - the API process imports this module without it
        except ImportError as error:
            raise EngineUnavailableError("The package httpx2 is not installed.") from error
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        # No environment proxy and no redirects: the API key only goes to the configured host.
        self._client = httpx2.Client(
            timeout=timeout_seconds, headers=headers, follow_redirects=False, trust_env=False, verify=tls_context()
        )
        self._base_url = base_url.rstrip("/")
        self._timeout_seconds = timeout_seconds

    def close(self) -> None:
        self._client.close()

    def post(self, path: str, *, max_bytes: int, **body: Any) -> bytes:  # noqa: ANN401 - passed through to httpx
        import httpx2  # noqa: PLC0415 - see above

        deadline = time.monotonic() + self._timeout_seconds
        try:
            with self._client.stream("POST", self._base_url + path, **body) as response:
                _check_status(response.status_code)
                received = bytearray()
                for chunk in response.iter_bytes():
                    received += chunk
                    if len(received) > max_bytes or time.monotonic() > deadline:
                        raise EngineUnavailableError("The server's response exceeds the size or time limit.")
        except httpx2.HTTPError as error:
            raise EngineUnavailableError("The server is not responding.") from error
        return bytes(received)


def _check_status(status: int) -> None:
    """Omits the body, because servers echo keys and input text in it."""
    if status == 200:
        return
    if status in _RETRYABLE_STATUSES or status >= 500:
        raise EngineUnavailableError(f"The server returned status {status}.")
    raise EngineError(f"The server rejected the request with status {status}.")
