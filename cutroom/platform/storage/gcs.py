"""Opens resumable upload sessions of Google Cloud Storage; credentials come from google-auth."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import httpx
from google.auth import exceptions, transport
from google.oauth2 import service_account

TIMEOUT_SECONDS = 20.0
SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"


class GcsError(Exception):
    """Google refused to open a session."""


class _TokenResponse(transport.Response):
    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    @property
    def status(self) -> int:
        return self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self._response.headers

    @property
    def data(self) -> bytes:
        return self._response.content


class _TokenRequest(transport.Request):
    """HTTP transport of google-auth over httpx, so that token requests need no second HTTP client library."""

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = TIMEOUT_SECONDS,
        **_options: object,
    ) -> _TokenResponse:
        try:
            with httpx.Client(timeout=timeout, trust_env=False) as client:
                return _TokenResponse(client.request(method, url, content=body, headers=headers))
        except httpx.HTTPError as error:
            raise exceptions.TransportError(error) from error


class Gcs:
    """Opens sessions in one bucket; clients then send their bytes to Google directly."""

    def __init__(self, account_file: Path, *, bucket: str, endpoint: str) -> None:
        self._credentials = service_account.Credentials.from_service_account_file(str(account_file), scopes=[SCOPE])
        self._url = f"{endpoint.rstrip('/')}/upload/storage/v1/b/{bucket}/o"
        self._client = httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=False)
        self._refreshing = asyncio.Lock()

    async def close(self) -> None:
        await self._client.aclose()

    async def open_session(
        self, path: str, *, content_type: str, total_bytes: int | None = None, origin: str | None = None
    ) -> str:
        """Returns the session's URL; `origin` is the web origin that a browser will upload from."""
        headers = {"Authorization": f"Bearer {await self._access_token()}", "X-Upload-Content-Type": content_type}
        if total_bytes is not None:
            headers["X-Upload-Content-Length"] = str(total_bytes)
        if origin is not None:
            headers["Origin"] = origin
        # Generation 0 matches only while the object does not exist: a finished upload is never overwritten.
        query = {"uploadType": "resumable", "name": path, "ifGenerationMatch": "0"}
        response = await self._client.post(
            self._url, params=query, headers=headers, json={"name": path, "contentType": content_type}
        )
        location = response.headers.get("location")
        if response.status_code not in {200, 201} or not location:
            raise GcsError(f"opening a session failed with status {response.status_code}")
        return str(location)

    async def _access_token(self) -> str:
        async with self._refreshing:
            if not self._credentials.valid:
                try:
                    await asyncio.to_thread(self._credentials.refresh, _TokenRequest())
                except exceptions.GoogleAuthError as error:
                    raise GcsError("the access token could not be refreshed") from error
            return str(self._credentials.token)
