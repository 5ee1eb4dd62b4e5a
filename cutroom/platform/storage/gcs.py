"""Upload sessions of Google Cloud Storage itself, opened with a service account's key."""

import base64
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import httpx
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from cutroom.platform.clock import Clock

TIMEOUT_SECONDS = 20.0
SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
_ASSERTION_LIFETIME = timedelta(hours=1)
_EARLY = timedelta(minutes=5)  # a token is renewed before it runs out
_GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class GcsError(Exception):
    """Google did not open a session."""


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """Who we are to Google."""

    email: str
    key: rsa.RSAPrivateKey
    token_url: str

    @classmethod
    def read(cls, path: Path) -> "ServiceAccount":
        fields = json.loads(path.read_text())
        key = load_pem_private_key(fields["private_key"].encode(), password=None)
        if not isinstance(key, rsa.RSAPrivateKey):
            raise TypeError("a service account's key is an RSA key")
        return cls(email=fields["client_email"], key=key, token_url=fields["token_uri"])

    def assertion(self, now: datetime) -> str:
        """A signed statement that Google exchanges for an access token (RFC 7523)."""
        claims = {
            "iss": self.email,
            "scope": SCOPE,
            "aud": self.token_url,
            "iat": int(now.timestamp()),
            "exp": int((now + _ASSERTION_LIFETIME).timestamp()),
        }
        pieces = [_encode(json.dumps(each).encode()) for each in ({"alg": "RS256", "typ": "JWT"}, claims)]
        signature = self.key.sign(".".join(pieces).encode(), padding.PKCS1v15(), SHA256())
        return ".".join((*pieces, _encode(signature)))


class Gcs:
    """One bucket of Google Cloud Storage; only its sessions are opened here, their bytes go past us."""

    def __init__(self, account: ServiceAccount, *, bucket: str, endpoint: str, clock: Clock) -> None:
        self._account = account
        self._url = f"{endpoint.rstrip('/')}/upload/storage/v1/b/{bucket}/o"
        self._clock = clock
        self._client = httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=False)
        self._token = ""
        self._good_until: datetime | None = None

    async def close(self) -> None:
        await self._client.aclose()

    async def open_session(
        self, path: str, *, content_type: str, total_bytes: int | None = None, origin: str | None = None
    ) -> str:
        """The session's URL; a browser may use it from the page whose origin is given."""
        headers = {"Authorization": f"Bearer {await self._access_token()}", "X-Upload-Content-Type": content_type}
        if total_bytes is not None:
            headers["X-Upload-Content-Length"] = str(total_bytes)
        if origin is not None:
            headers["Origin"] = origin
        # Generation 0 means that nothing is there yet: a finished upload is not overwritten.
        query = {"uploadType": "resumable", "name": path, "ifGenerationMatch": "0"}
        response = await self._client.post(
            self._url, params=query, headers=headers, json={"name": path, "contentType": content_type}
        )
        location = response.headers.get("location")
        if response.status_code not in {200, 201} or not location:
            raise GcsError(f"the session was answered with {response.status_code}")
        return str(location)

    async def _access_token(self) -> str:
        now = self._clock()
        if self._good_until is None or now >= self._good_until:
            form = {"grant_type": _GRANT_TYPE, "assertion": self._account.assertion(now)}
            response = await self._client.post(self._account.token_url, data=form)
            if response.status_code != 200:
                raise GcsError(f"the token was answered with {response.status_code}")
            told = response.json()
            self._token = told["access_token"]
            self._good_until = now + timedelta(seconds=int(told["expires_in"])) - _EARLY
        return self._token


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
