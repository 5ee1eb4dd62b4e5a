"""Tests the listener of the browser login, and forwarded webhooks."""

import base64
import hashlib
from datetime import UTC, datetime
from threading import Thread
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest
from cutroom_client.cli import browser_login
from cutroom_client.cli.browser_login import Attempt, log_in
from cutroom_client.cli.exits import CommandError, Exit
from cutroom_client.cli.webhooks import forward, local_url, sign
from standardwebhooks import Webhook

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
EVENT = {"id": "e1", "type": "job.ready", "timestamp": "2026-11-15T01:56:32Z", "data": {"id": "import_x"}}


def test_the_authorization_url_has_a_challenge_and_no_secret() -> None:
    attempt = Attempt.create()
    fields = dict(
        parse_qsl(urlsplit(attempt.authorization_url("https://a.example", "http://127.0.0.1:5000/callback", "")).query)
    )
    digest = hashlib.sha256(attempt.verifier.encode()).digest()
    assert fields["code_challenge"] == base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    assert attempt.verifier not in fields.values()
    assert 43 <= len(attempt.verifier) <= 128
    assert Attempt.create() != attempt


def test_only_the_redirect_of_this_login_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything else is 404, and what the redirect brings is exchanged with the verifier of the attempt."""
    sent: list[dict[str, str]] = []

    def exchange(_base_url: str, path: str, fields: dict[str, str]) -> dict[str, object]:
        sent.append({"path": path, **fields})
        return {"access_token": "cr_x", "scope": "jobs:read videos:read"}

    monkeypatch.setattr(browser_login, "_token_request", exchange)
    statuses: list[int] = []
    pages: list[str] = []

    def visit(url: str) -> None:
        fields = dict(parse_qsl(urlsplit(url).query))
        callback, state = fields["redirect_uri"], fields["state"]
        with httpx.Client(trust_env=False) as browser:
            wrong = ["code=x", "code=x&state=wrong", f"code=a&code=b&state={state}", f"state={state}"]
            wrong.append(f"code=a&error=b&state={state}")
            statuses.extend(browser.get(f"{callback}?{query}").status_code for query in wrong)
            statuses.append(
                browser.get(f"{callback}?code=x&state={state}", headers={"Host": "evil.example"}).status_code
            )
            statuses.append(browser.post(f"{callback}?code=x&state={state}").status_code)
            pages.append(browser.get(f"{callback}?code=oac_1&state={state}").text)

    login = log_in("https://a.example", scopes="", open_page=lambda url: Thread(target=visit, args=(url,)).start())
    assert login.key == "cr_x"
    assert login.scopes == ("jobs:read", "videos:read")
    assert statuses == [404] * 6 + [501]
    assert sent[0]["code"] == "oac_1"
    assert sent[0]["redirect_uri"].startswith("http://127.0.0.1:")


def test_a_denied_login_fails() -> None:
    def deny(url: str) -> None:
        fields = parse_qs(urlsplit(url).query)
        answer = f"{fields['redirect_uri'][0]}?error=access_denied&state={fields['state'][0]}"
        Thread(target=httpx.get, args=(answer,), kwargs={"trust_env": False}).start()

    with pytest.raises(CommandError, match="denied") as caught:
        log_in("https://a.example", scopes="", open_page=deny)
    assert caught.value.exit_code is Exit.AUTHENTICATION


@pytest.mark.parametrize("to", ["3000", "http://127.0.0.1:3000/hook", "http://localhost:3000", "http://[::1]:3000/"])
def test_events_are_forwarded_to_this_computer(to: str) -> None:
    assert local_url(to).startswith("http://")


@pytest.mark.parametrize(
    "to",
    ["0", "70000", "٣٠٠٠", "", "https://127.0.0.1", "http://10.0.0.1:80", "http://localhost.example.com", "http://127.0.0.1@evil.example",
     "http://evil.example#127.0.0.1", "http://u:p@127.0.0.1", "file:///etc/passwd", "localhost:3000"],
)  # fmt: skip
def test_and_to_no_other(to: str) -> None:
    with pytest.raises(CommandError):
        local_url(to)


def test_signatures_are_those_of_standard_webhooks() -> None:
    body, timestamp = b'{"type":"job.ready"}', 1_794_707_792
    expected = Webhook(SECRET).sign("e1", datetime.fromtimestamp(timestamp, tz=UTC), body.decode())
    assert sign(SECRET, event_id="e1", timestamp=timestamp, body=body) == expected


def test_a_failed_delivery_is_repeated() -> None:
    waits: list[float] = []
    assert forward("http://127.0.0.1:9/", SECRET, EVENT, sleep=waits.append) == (None, 3)
    assert waits == [1, 2]
