"""Asks a server for sound or pictures: once, bounded in time and in bytes; its failures are told apart."""

import time
from typing import Any

from cutroom.engines.errors import EngineError, EngineUnavailableError

# Of the answers that blame the caller, those that another time may not come.
_MAY_PASS = frozenset({408, 409, 425, 429})


class RemoteServer:
    """Asks once; whoever calls decides on another try."""

    def __init__(self, base_url: str, api_key: str, *, timeout_seconds: float) -> None:
        try:
            import httpx2  # noqa: PLC0415 - the API process must be able to import this room without it
        except ImportError as error:
            raise EngineUnavailableError("The package httpx2 is not installed.") from error
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        # No proxy from the environment, and no redirect: the key goes where the operator said and nowhere else.
        self._client = httpx2.Client(timeout=timeout_seconds, headers=headers, follow_redirects=False, trust_env=False)
        self._base_url = base_url.rstrip("/")
        self._timeout_seconds = timeout_seconds

    def close(self) -> None:
        self._client.close()

    def post(self, path: str, *, max_bytes: int, **body: Any) -> bytes:  # noqa: ANN401 - as httpx takes it
        import httpx2  # noqa: PLC0415 - see above

        deadline = time.monotonic() + self._timeout_seconds
        try:
            with self._client.stream("POST", self._base_url + path, **body) as response:
                _check_status(response.status_code)
                answer = bytearray()
                for part in response.iter_bytes():
                    answer += part
                    if len(answer) > max_bytes or time.monotonic() > deadline:
                        raise EngineUnavailableError("The server's answer does not end.")
        except httpx2.HTTPError as error:
            raise EngineUnavailableError("The server does not answer.") from error
        return bytes(answer)


def _check_status(status: int) -> None:
    """Nothing of the body: servers repeat keys and texts in it."""
    if status == 200:
        return
    if status in _MAY_PASS or status >= 500:
        raise EngineUnavailableError(f"The server answered with status {status}.")
    raise EngineError(f"The server refused the request with status {status}.")
