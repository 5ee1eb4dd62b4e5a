"""Malformed requests: each gets an error envelope with the right code."""

import asyncio
import json
from dataclasses import dataclass, field

from dev.scratch import Accounts, Keyring, environment_of
from dev.server import Server
from proofs.stage.report import Report

JSON = {"Content-Type": "application/json"}
TOO_LARGE = 2 * 1024 * 1024


@dataclass(frozen=True)
class Case:
    """A malformed request, and its expected status and code."""

    name: str
    body: bytes | None = None
    method: str = "POST"
    path: str = "/v1/folders"
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 400
    code: str = "INVALID_ARGUMENT"
    key: bool = True
    raw: bytes | None = None


def body(name: str, content: bytes, **more: str) -> Case:
    return Case(name, body=content, headers={**JSON, **more})


def no_body(name: str, path: str, *, status: int, code: str, method: str = "GET") -> Case:
    return Case(name, method=method, path=path, status=status, code=code)


BODIES = [
    body("empty body", b""),
    body("not JSON", b"{name: 1}"),
    body("cut short", b'{"name": "a'),
    body("two documents", b'{"name": "a"} {"name": "b"}'),
    body("duplicate names", b'{"name": "a", "name": "b"}'),
    body("duplicate names, nested", b'{"name": "a", "x": {"y": 1, "y": 2}}'),
    body("NaN", b'{"name": NaN}'),
    body("Infinity", b'{"name": "a", "x": -Infinity}'),
    body("a number beyond a double", b'{"name": "a", "x": 1e999}'),
    body("an integer beyond 2^53", b'{"name": "a", "x": 9007199254740993}'),
    body("an integer of 5,000 digits", b'{"name": "a", "x": ' + b"9" * 5000 + b"}"),
    body("depth 100, objects", b'{"name":' * 100 + b"1" + b"}" * 100),
    body("depth 100, arrays", b"[" * 100 + b"]" * 100),
    body("depth 100,000", b"[" * 100_000 + b"]" * 100_000),
    body("lone surrogate", b'{"name": "\\ud800"}'),
    body("NUL in a string", b'{"name": "a\\u0000b"}'),
    body("NUL in a name", b'{"name": "a", "x\\u0000": 1}'),
    body("not UTF-8", b'{"name": "\xff\xfe"}'),
    body("UTF-16", '{"name": "a"}'.encode("utf-16")),
    body("byte order mark", b'\xef\xbb\xbf{"name": "a"}'),
    body("an array", b'["name"]'),
    body("a string", b'"name"'),
    body("null", b"null"),
    body("a number", b"7"),
    body("wrong type of a field", b'{"name": 7}'),
    body("null for a required field", b'{"name": null}'),
    body("field missing", b"{}"),
    body("empty name", b'{"name": ""}'),
    body("blank name", b'{"name": "   "}'),
    body("name of 121 characters", json.dumps({"name": "x" * 121}).encode()),
    body("reserved name", b'{"name": "all videos"}'),
    body("parent of the wrong type", b'{"name": "a", "parentId": 5}'),
    body("empty parent", b'{"name": "a", "parentId": ""}'),
    body("a body of 2 MiB", b'{"name": "' + b"x" * TOO_LARGE + b'"}'),
    Case("no content type", body=b'{"name": "a"}'),
    Case("text/plain", body=b'{"name": "a"}', headers={"Content-Type": "text/plain"}),
    Case("a form", body=b"name=a", headers={"Content-Type": "application/x-www-form-urlencoded"}),
    Case("a malformed content type", body=b'{"name": "a"}', headers={"Content-Type": ";;json"}),
    body("empty idempotency key", b'{"name": "a"}', **{"Idempotency-Key": ""}),
    body("idempotency key of 256 characters", b'{"name": "a"}', **{"Idempotency-Key": "k" * 256}),
    body("malformed body under a key", b"{", **{"Idempotency-Key": "malformed"}),
]
LOOKUPS = [
    no_body("limit is not a number", "/v1/videos?limit=ten", status=400, code="INVALID_ARGUMENT"),
    no_body("limit 0", "/v1/videos?limit=0", status=400, code="INVALID_ARGUMENT"),
    no_body("limit 101", "/v1/videos?limit=101", status=400, code="INVALID_ARGUMENT"),
    no_body("limit 1.5", "/v1/videos?limit=1.5", status=400, code="INVALID_ARGUMENT"),
    no_body("limit of 400 digits", "/v1/videos?limit=" + "9" * 400, status=400, code="INVALID_ARGUMENT"),
    no_body("bad cursor", "/v1/videos?pageToken=abc", status=400, code="INVALID_ARGUMENT"),
    no_body("empty cursor", "/v1/videos?pageToken=", status=400, code="INVALID_ARGUMENT"),
    no_body("cursor of NULs", "/v1/videos?pageToken=%00%00", status=400, code="INVALID_ARGUMENT"),
    no_body("cursor that is not ASCII", "/v1/videos?pageToken=%F0%9F%8E%AC", status=400, code="INVALID_ARGUMENT"),
    no_body("unknown route", "/v1/nothing", status=404, code="NOT_FOUND"),
    no_body("unknown route outside the version", "/nothing", status=404, code="NOT_FOUND"),
    no_body("unknown version", "/v2/videos", status=404, code="NOT_FOUND"),
    no_body("unknown file of the docs", "/docs/assets/../../etc/passwd", status=404, code="NOT_FOUND"),
    no_body("wrong method", "/v1/folders", method="PUT", status=405, code="METHOD_NOT_ALLOWED"),
    no_body("wrong method on one", "/v1/videos/x", method="PUT", status=405, code="METHOD_NOT_ALLOWED"),
    no_body("PATCH of a list", "/v1/videos", method="PATCH", status=405, code="METHOD_NOT_ALLOWED"),
    no_body("PATCH without a body", "/v1/videos/x", method="PATCH", status=400, code="INVALID_ARGUMENT"),
    no_body("unknown method", "/v1/videos", method="BREW", status=400, code="INVALID_ARGUMENT"),
    no_body("NUL as an id", "/v1/videos/%00", status=404, code="NOT_FOUND"),
    no_body("NUL as a folder's id", "/v1/folders/%00", status=404, code="NOT_FOUND"),
    no_body("an id of 5,000 characters", "/v1/videos/" + "x" * 5000, status=404, code="NOT_FOUND"),
    no_body("an id that is not UTF-8", "/v1/folders/%FF%FE", status=404, code="NOT_FOUND"),
    no_body("a path in an id", "/v1/folders/..%2F..%2Fetc", status=404, code="NOT_FOUND"),
    Case("no key", method="GET", path="/v1/videos", key=False, status=401, code="UNAUTHENTICATED"),
    Case(
        "another scheme",
        method="GET",
        path="/v1/videos",
        key=False,
        headers={"Authorization": "Basic Y3I6"},
        status=401,
        code="UNAUTHENTICATED",
    ),
    Case("bytes that are not HTTP", raw=b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
    Case("a request line of one word", raw=b"GET\r\n\r\n"),
    Case("a header without a name", raw=b"GET /v1/health HTTP/1.1\r\n: x\r\n\r\n"),
    Case(
        "two lengths", raw=b"POST /v1/folders HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"
    ),
]


async def prove_malformed(report: Report, accounts: Accounts) -> None:
    key = await accounts.key(await accounts.person())
    server = Server(environment_of(accounts.settings))
    server.start()
    cases = BODIES + LOOKUPS
    try:
        wrong = []
        for case in cases:
            head, content = await _send(server.port, case, key)
            if (fault := _find_fault(case, head, content)) is not None:
                wrong.append(f"{case.name}: {fault}")
        alive = (await _send(server.port, Case("alive", method="GET", path="/v1/health", raw=None), key))[0]
    finally:
        server.stop()
    for line in wrong:
        report.note(line)
    right = len(cases) - len(wrong)
    report.claim("malformed requests with an error envelope", expected=str(len(cases)), measured=right, holds=not wrong)
    report.claim(
        "... and the process still responds",
        expected="200",
        measured=alive.split()[1].decode(),
        holds=b" 200 " in alive,
    )
    report.figures(malformed_ok=right, malformed_total=len(cases))


async def _send(port: int, case: Case, key: Keyring) -> tuple[bytes, bytes]:
    """Head and body of the response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(case.raw if case.raw is not None else _wire(case, key))
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), timeout=20)
        content = await asyncio.wait_for(reader.read(), timeout=20)
    except (asyncio.IncompleteReadError, ConnectionError):
        return b"", b""
    finally:
        writer.close()
    return head, content


def _wire(case: Case, key: Keyring) -> bytes:
    headers = {"Host": "localhost", "Connection": "close", **case.headers, **(key.headers if case.key else {})}
    if case.body is not None:
        headers["Content-Length"] = str(len(case.body))
    lines = [f"{case.method} {case.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (case.body or b"")


def _find_fault(case: Case, head: bytes, content: bytes) -> str | None:
    """What is wrong with a response; None if nothing."""
    status = int(head.split()[1]) if head else 0
    try:
        error = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError):
        return f"{status} without an error envelope: {content[:100]!r}"
    if set(error) != {"code", "message", "details"} or not isinstance(error["details"], dict):
        return f"wrong error envelope: {error}"
    if (status, error["code"]) != (case.status, case.code):
        return f"{status} {error['code']}, expected {case.status} {case.code}"
    headers = head.lower()
    if b"x-request-id:" not in headers or b"content-type: application/json" not in headers:
        return "a header is missing"
    nameless = error["code"] == "INVALID_ARGUMENT" and not error["details"].get("fields")
    return "no field is named" if nameless else None
