"""`webhooks listen`: forwards events of the library to a port of this computer, signed as Standard Webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

import typer

from cutroom_client.cli.commands import Interrupted
from cutroom_client.cli.exits import CommandError, Exit
from cutroom_client.cli.output import printable
from cutroom_client.cli.profiles import locked, read_json, write_private
from cutroom_client.cli.service import Json, reported
from cutroom_client.cli.session import Session

PREFIX = "whsec_"
SECRET_BYTES = 32
WAIT_SECONDS = 30
ATTEMPTS = 3
FORWARD_TIMEOUT = 15.0  # as the service waits for an endpoint
FIRST_CURSOR_BYTES = 10_000


def listen(
    session: Session,
    to: Annotated[str, typer.Argument(metavar="PORT|URL", help="Port, or http:// URL of this computer.")],
    *,
    types: Annotated[str, typer.Option(metavar="TYPES", help="Only these types of events, separated by commas.")] = "",
    after: Annotated[
        str, typer.Option(metavar="CURSOR", help="Continue after this cursor; else with what happens next.")
    ] = "",
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Stop after this many events.")] = None,
) -> None:
    """Forward events to a local port as signed webhooks, until Ctrl-C. `webhooks secret` shows the signing secret."""
    url, secret = local_url(to), _secret(session)
    cursor = after or _current_cursor(session, types)
    session.output.note(f"Forwarding to {url}. Verify with the secret of: cutroom webhooks secret")
    forwarded = 0
    try:
        while limit is None or forwarded < limit:
            size = 100 if limit is None else min(100, limit - forwarded)
            page = session.service.get("/v1/events", after=cursor, types=types or None, limit=size, wait=WAIT_SECONDS)
            for event in page["events"]:
                _show(session, event, *forward(url, secret, event))
                forwarded += 1
            cursor = str(page["cursor"])
    except KeyboardInterrupt:
        raise Interrupted(f"Continue with: cutroom webhooks listen {to} --after {cursor}") from None


def local_url(to: str) -> str:
    """Where to send events; only this computer."""
    text = f"http://127.0.0.1:{to}/" if to.isascii() and to.isdigit() else to
    try:
        parts = urlsplit(text)
        known = parts.scheme == "http" and parts.username is None and parts.port != 0 and not parts.fragment
        host = parts.hostname or ""
        is_local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        known = is_local = False
    if not known or not is_local:
        raise CommandError("Events are forwarded to a port or an http:// URL of this computer only.")
    return text


def sign(secret: str, *, event_id: str, timestamp: int, body: bytes) -> str:
    """The signature of Standard Webhooks."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = b".".join((event_id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def forward(
    url: str, secret: str, event: Json, *, sleep: Callable[[float], None] = time.sleep
) -> tuple[int | None, int]:
    """Sends an event, again if it fails; returns the last status and how many attempts were made."""
    import httpx  # noqa: PLC0415 (slow to load)

    document = {name: event[name] for name in ("type", "timestamp", "data")}
    body = json.dumps(document, separators=(",", ":")).encode()
    status: int | None = None
    with httpx.Client(timeout=FORWARD_TIMEOUT, trust_env=False, follow_redirects=False) as client:
        for attempt in range(1, ATTEMPTS + 1):
            timestamp = int(time.time())
            headers = {
                "Content-Type": "application/json",
                "User-Agent": "Cutroom/1",
                "webhook-id": str(event["id"]),
                "webhook-timestamp": str(timestamp),
                "webhook-signature": sign(secret, event_id=str(event["id"]), timestamp=timestamp, body=body),
            }
            try:
                status = client.post(url, content=body, headers=headers).status_code
            except httpx.TransportError:
                status = None
            if status is not None and 200 <= status < 300:
                return status, attempt
            if attempt < ATTEMPTS:
                sleep(2 ** (attempt - 1))
    return status, ATTEMPTS


def _show(session: Session, event: Json, status: int | None, attempts: int) -> None:
    data = event.get("data") or {}
    subject = data.get("id") or data.get("videoId") or ""
    if session.output.as_json:
        session.output.line({"id": event["id"], "type": event["type"], "status": status, "attempts": attempts})
        return
    outcome = "no connection" if status is None else str(status)
    session.output.write(
        f"{printable(event['timestamp'])}  {printable(event['type'])}  {printable(subject)}  {outcome}"
    )


def _current_cursor(session: Session, types: str) -> str:
    """Where the log ends now: the stream begins with it."""
    from cutroom_client.calls import Call  # noqa: PLC0415 (slow to load)

    call = Call("streamEvents", "GET", "/v1/events/stream", query={"types": types or None})
    received = b""
    with reported():
        for chunk in session.service.transport.chunks(call):
            received += chunk
            lines = received.split(b"\n")
            found = [line for line in lines[:-1] if line.startswith(b"id:")]
            if found:
                return found[0].removeprefix(b"id:").strip().decode("ascii")
            if len(received) > FIRST_CURSOR_BYTES:
                break
    raise CommandError("The stream of events has no cursor.", exit_code=Exit.UNEXPECTED)


def show_secret(
    session: Session,
    *,
    rotate: Annotated[bool, typer.Option("--rotate", help="Replace it.")] = False,
) -> None:
    """Show the secret that `webhooks listen` signs with. It is of this computer and profile only."""
    secret = _secret(session, rotate=rotate)
    session.output.result({"secret": secret}, text=secret)


def _secret(session: Session, *, rotate: bool = False) -> str:
    """The secret of the profile; created when it is first needed."""
    path, name = session.folder / "webhook-secrets.json", session.profile.name
    with locked(session.folder):
        stored = read_json(path)
        found = stored.get(name)
        if not isinstance(found, str) or not found.startswith(PREFIX) or rotate:
            found = PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
            write_private(path, json.dumps(stored | {name: found}, indent=2) + "\n")
    return found


COMMANDS = {"webhooks": {"listen": listen, "secret": show_secret}}
