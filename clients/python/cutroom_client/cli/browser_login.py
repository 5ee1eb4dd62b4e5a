"""The browser login: a listener on 127.0.0.1 for one redirect, with PKCE and state (RFC 7636, 8252, 9207)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from time import monotonic
from urllib.parse import parse_qsl, urlencode, urlsplit

from cutroom_client.cli.exits import CommandError, Exit

CLIENT_ID = "cutroom-cli"
CALLBACK = "/callback"
WAIT_SECONDS = 300.0
MAX_TARGET = 8_000
MAX_BODY = 100_000
_REQUEST_TIMEOUT = 10.0
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Cutroom</title>
<body style="font: 1.1rem system-ui; margin: 4rem auto; max-width: 30rem; padding: 0 1rem">
<h1>{title}</h1><p>{text}</p></body></html>"""


@dataclass(frozen=True)
class Login:
    """A finished login."""

    key: str
    scopes: tuple[str, ...]


@dataclass(frozen=True)
class Attempt:
    """The secrets of one login."""

    verifier: str
    state: str

    @classmethod
    def create(cls) -> Attempt:
        return cls(secrets.token_urlsafe(48), secrets.token_urlsafe(24))

    def authorization_url(self, base_url: str, redirect_uri: str, scopes: str) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        fields = {
            "response_type": "code",
            "client_id": CLIENT_ID,
            "redirect_uri": redirect_uri,
            "state": self.state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            **({"scope": scopes} if scopes else {}),
        }
        return f"{base_url}/oauth/authorize?{urlencode(fields)}"


class _Listener(HTTPServer):
    """Accepts connections of this computer only."""

    allow_reuse_address = False

    def __init__(self, accept: Callable[[str], tuple[int, str, str] | None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.accept = accept


class _Handler(BaseHTTPRequestHandler):
    """Answers the redirect, and anything else with 404."""

    server: _Listener
    timeout = _REQUEST_TIMEOUT

    def do_GET(self) -> None:
        host = f"127.0.0.1:{self.server.server_address[1]}"
        found = None
        if self.headers.get("Host") == host and len(self.path) <= MAX_TARGET:  # a name that resolves to here is refused
            found = self.server.accept(self.path)
        status, title, text = found or (404, "Not found", "This address is for the login of the command line.")
        body = _PAGE.format(title=title, text=text).encode()
        self.send_response(status)
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("Connection", "close"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: the path has the code."""


def log_in(base_url: str, *, scopes: str, open_page: Callable[[str], None]) -> Login:
    """Waits for the person to allow the login, and exchanges the code for a key."""
    attempt, answers = Attempt.create(), []

    def accept(target: str) -> tuple[int, str, str] | None:
        fields = _redirected(target, attempt.state)
        if fields is None:
            return None
        answers.append(fields)
        if "code" in fields:
            return 200, "You are logged in", "You can close this page and return to the terminal."
        return 200, "The login was not allowed", "You can close this page."

    with _Listener(accept) as listener:
        redirect_uri = f"http://127.0.0.1:{listener.server_address[1]}{CALLBACK}"
        open_page(attempt.authorization_url(base_url, redirect_uri, scopes))
        deadline = monotonic() + WAIT_SECONDS
        while not answers:
            listener.timeout = deadline - monotonic()
            if listener.timeout <= 0:
                raise CommandError("Nobody has allowed the login within five minutes.", exit_code=Exit.AUTHENTICATION)
            listener.handle_request()
    return _exchange(base_url, answers[0], redirect_uri, attempt.verifier)


def _redirected(target: str, state: str) -> dict[str, str] | None:
    """The fields of the redirect; None if it is for something else, or for another login."""
    parts = urlsplit(target)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    fields = dict(pairs)
    known = parts.path == CALLBACK and len(fields) == len(pairs) and ("code" in fields) != ("error" in fields)
    return fields if known and hmac.compare_digest(fields.get("state", "").encode(), state.encode()) else None


def _exchange(base_url: str, fields: dict[str, str], redirect_uri: str, verifier: str) -> Login:
    if "code" not in fields:
        denied = fields["error"] == "access_denied"
        text = "The login was denied." if denied else f"The login failed: {fields['error']}."
        raise CommandError(text, exit_code=Exit.AUTHENTICATION, code=fields["error"])
    found = _token_request(
        base_url,
        "/oauth/token",
        {
            "grant_type": "authorization_code",
            "client_id": CLIENT_ID,
            "code": fields["code"],
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
            "device_name": socket.gethostname()[:60],
        },
    )
    key, scope = found.get("access_token"), found.get("scope")
    if not isinstance(key, str) or not isinstance(scope, str):
        raise CommandError("The service has not returned a key.", exit_code=Exit.UNEXPECTED)
    return Login(key, tuple(scope.split()))


def revoke(base_url: str, key: str) -> None:
    """Revokes a key that a browser login has created; other keys stay."""
    _token_request(base_url, "/oauth/revoke", {"client_id": CLIENT_ID, "token": key})


def _token_request(base_url: str, path: str, fields: dict[str, str]) -> dict[str, object]:
    """A form that is sent once: a code works once, and neither it nor the key may appear in an error."""
    import httpx  # noqa: PLC0415 (slow to load)

    try:
        response = httpx.post(f"{base_url}{path}", data=fields, follow_redirects=False, timeout=30)
    except httpx.HTTPError as error:
        raise CommandError(
            f"The service cannot be reached ({type(error).__name__}).", exit_code=Exit.CONNECTION, code="CONNECTION"
        ) from None
    try:
        found = response.json() if response.content and len(response.content) <= MAX_BODY else {}
    except ValueError:
        found = {}
    if response.is_success and isinstance(found, dict):
        return found
    reason = found.get("error") if isinstance(found, dict) else None
    name = reason if isinstance(reason, str) else f"status {response.status_code}"
    raise CommandError(f"The service has refused the login: {name}.", exit_code=Exit.AUTHENTICATION)
