"""Security headers on every kind of response, and forms that are too large."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping

import httpx

from proofs.hardening.attacks import Scene, client_at, summary
from proofs.hardening.wire import exchange, request_bytes

HEADERS, FORMS = "headers", "forms"
REQUIRED = ("x-content-type-options", "content-security-policy", "referrer-policy", "cross-origin-resource-policy")
MIB = 1024 * 1024
URLENCODED = {"Content-Type": "application/x-www-form-urlencoded"}


async def attack_responses(scene: Scene, poster: str) -> None:
    await _check_headers(scene, poster)
    await _attack_forms(scene)


async def _check_headers(scene: Scene, poster: str) -> None:
    key = scene.attacker.key.headers
    requests: dict[str, tuple[str, str, Mapping[str, str]]] = {
        "a public operation": ("GET", "/v1/health", {}),
        "an operation": ("GET", "/v1/videos", key),
        "no credential": ("GET", "/v1/videos", {}),
        "an unknown path": ("GET", "/v1/nothing", {}),
        "a wrong method": ("PUT", "/v1/folders", key),
        "an invalid body": ("POST", "/v1/folders", key),
        "a retired operation": ("POST", "/v1/upload-and-dub", {}),
        "the OpenAPI document": ("GET", "/v1/openapi.json", {}),
        "the API reference": ("GET", "/docs", {}),
        "a script of the reference": ("GET", "/docs/assets/swagger-ui-bundle.js", {}),
        "a page": ("GET", "/sign-in", {}),
        "a redirect": ("GET", "/library", {}),
        "a style sheet": ("GET", "/static/console.css", {}),
        "a missing static file": ("GET", "/static/none.css", {}),
        "a file": ("GET", httpx.URL(poster).path, {}),
        "a range of a file": ("GET", httpx.URL(poster).path, {"Range": "bytes=0-9"}),
        "an impossible range": ("GET", httpx.URL(poster).path, {"Range": "bytes=999999999-"}),
        "a forged file URL": ("GET", "/files/fl_00/libraries/x/y", {}),
        "a forged playback URL": ("GET", "/media/pb_00/x/y/master.m3u8", {}),
        "an upload error": ("PUT", "/uploads/x", {}),
        "an OAuth error": ("POST", "/oauth/token", {}),
        "the OAuth metadata": ("GET", "/.well-known/oauth-authorization-server", {}),
    }
    async with scene.anonymous as client:
        for kind, (method, path, headers) in requests.items():
            response = await client.request(method, path, headers=dict(headers))
            wrong = _faults(response)
            scene.log.add(HEADERS, kind, wrong or f"{response.status_code}, all set", succeeded=bool(wrong))
    malformed = await exchange(scene.stage.api.port, b"GET\r\n\r\n")
    missing = [name for name in REQUIRED if f"{name}:".encode() not in malformed.headers]
    scene.log.add(HEADERS, "malformed HTTP", missing or f"{malformed}, all set", succeeded=bool(missing))


def _faults(response: httpx.Response) -> list[str]:
    found = [name for name in REQUIRED if len(response.headers.get_list(name)) != 1]
    policy = response.headers.get("content-security-policy", "")
    if "default-src 'none'" not in policy or "unsafe-eval" in policy:
        found.append(f"policy {policy}")
    if response.headers.get("x-content-type-options") != "nosniff":
        found.append("nosniff")
    if "server" in response.headers:
        found.append("the server is named")
    return found


async def _attack_forms(scene: Scene) -> None:
    port, key = scene.stage.api.port, scene.attacker.key.headers
    async with client_at(scene.stage.api.url, "127.0.7.1") as client:
        for tried, content in {
            "a form of 300 KiB": b"email=" + b"a" * 300 * 1024,
            "a form of 5,000 fields": b"&".join(b"f%d=1" % number for number in range(5_000)),
            "a form of 60,000 empty fields": b"&" * 60_000,
            "a form with NUL": b"email=%00&password=%00",
            "a form that is not UTF-8": b"email=%ff%fe",
        }.items():
            response = await client.post("/sign-in", content=content, headers=URLENCODED)
            scene.log.expect(FORMS, tried, response, 400, 403)
        scene.log.expect(FORMS, "a form of 20 MiB in chunks", await _chunked(client), 400)
        parts: dict[str, list[tuple[str, tuple[str | None, bytes]]]] = {
            "a form of 60 fields": [("name", (None, b"x"))] * 60,
            "a form of 30 files": [("files", ("a.wav", b"x"))] * 30,
            "a field of 2 MiB": [("name", (None, b"x" * 2 * MIB))],
        }
        for tried, files in parts.items():
            response = await client.post("/v1/voices/add", files=files, headers=key)
            scene.log.expect(FORMS, tried, response, 400)
        boundless = {**key, "Content-Type": "multipart/form-data"}
        response = await client.post("/v1/voices/add", content=b"--x--", headers=boundless)
        scene.log.expect(FORMS, "a form without a boundary", response, 400)
    for tried, path, kind in (
        ("a declared form of 1 TB", "/sign-in", "application/x-www-form-urlencoded"),
        ("a declared form with files of 1 TB", "/v1/voices/add", "multipart/form-data; boundary=x"),
    ):
        headers = {"Host": "x", **key, "Content-Type": kind, "Content-Length": str(10**12), "Connection": "close"}
        found = await exchange(port, request_bytes("POST", path, headers, b"--x"), address="127.0.7.2")
        scene.log.add(FORMS, tried, found, succeeded=found.first not in {400, 403})
    async with scene.reads.during("forms", scene.log.ratios):
        sent = await asyncio.gather(*(_flood(scene, f"127.0.7.{number + 3}") for number in range(4)))
    scene.log.load_requests["forms"] = sum(sent)


async def _chunked(client: httpx.AsyncClient) -> httpx.Response:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20 * MIB // 65_536):
            yield b"a" * 65_536

    try:
        return await client.post("/sign-in", content=chunks(), headers=URLENCODED)
    except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        return httpx.Response(400, text="the connection was closed before the form ended")


async def _flood(scene: Scene, address: str) -> int:
    fields = b"&".join(b"f%d=1" % number for number in range(20_000))
    ends, sent = time.monotonic() + scene.load_seconds, 0
    async with client_at(scene.stage.api.url, address) as client:
        while time.monotonic() < ends:
            found = await client.post("/sign-in", content=fields, headers=URLENCODED)
            if found.status_code < 400:
                raise RuntimeError(f"a form of 20,000 fields was accepted: {summary(found)}")
            sent += 1
    return sent
