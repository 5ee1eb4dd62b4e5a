"""JSON bodies that are expensive to parse, single and as a load."""

import asyncio
import gzip
import time
from collections.abc import AsyncIterator

import httpx

from proofs.hardening.attacks import Scene, summary
from proofs.hardening.wire import WireResponse, exchange, request_bytes

FAMILY = "bodies"
PATH = "/v1/folders"
JSON = {"Content-Type": "application/json"}
MIB = 1024 * 1024
SENDERS = 4

BODIES: dict[str, bytes] = {
    "an array of 500,000 numbers": b'{"name":"a","x":[' + b"1," * 499_999 + b"1]}",
    "an object of 60,000 keys": b'{"name":"a",' + b",".join(b'"k%d":1' % n for n in range(60_000)) + b"}",
    "120,000 empty objects": b'{"name":"a","x":[' + b"{}," * 119_999 + b"{}]}",
    "500,000 levels of arrays": b"[" * 500_000 + b"]" * 500_000,
    "65 levels of objects": b'{"name":' * 65 + b"1" + b"}" * 65,
    "unclosed arrays": b"[" * 900_000,
    "an integer of a million digits": b'{"name":"a","x":' + b"9" * 1_000_000 + b"}",
    "an exponent of 400 digits": b'{"name":"a","x":1e' + b"9" * 400 + b"}",
    "250,000 fractions": b'{"name":"a","x":[' + b"1.5," * 249_999 + b"1.5]}",
    "a string of 170,000 escapes": b'{"name":"' + b"\\u0041" * 170_000 + b'"}',
    "an unterminated string of backslashes": b'{"name":"' + b"\\" * 1_000_000,
    "20,000 equal keys": b"{" + b",".join([b'"name":"a"'] * 20_000) + b"}",
    "a body of 1 MiB and a byte": b'{"name":"' + b"a" * (MIB - 10) + b'"}',
    "a gzip bomb": gzip.compress(b'{"name":"' + b"a" * (20 * MIB) + b'"}'),
}


async def attack_with_bodies(scene: Scene) -> None:
    client, log = scene.attacker.client, scene.log
    control = await client.post(PATH, json={"name": "Control"})
    if control.status_code != 201:
        raise RuntimeError(f"a good body was refused: {summary(control)}")
    for name, body in BODIES.items():
        headers = {**JSON, "Content-Encoding": "gzip"} if name == "a gzip bomb" else JSON
        log.expect(FAMILY, name, await client.post(PATH, content=body, headers=headers), 400)
    declared = await _declared(scene, 10**12)
    log.add(FAMILY, "a body of 1 TB, declared", declared, succeeded=declared.statuses != [400])
    log.expect(FAMILY, "a body of 20 MiB in chunks without a length", await _chunked(client, 20 * MIB), 400)
    headers = {**JSON, "Idempotency-Key": "hardening"}
    keyed = await client.post(PATH, content=BODIES["250,000 fractions"], headers=headers)
    log.expect(FAMILY, "250,000 fractions under an idempotency key", keyed, 400)
    async with scene.reads.during("bodies", log.ratios):
        sent = await asyncio.gather(*(_flood(scene, number) for number in range(SENDERS)))
    log.load_requests["bodies"] = sum(sent)


async def _flood(scene: Scene, first: int) -> int:
    """Send one body after another; return how many."""
    bodies, ends = list(BODIES.values())[:-1], time.monotonic() + scene.load_seconds
    number, sent = first, 0
    while time.monotonic() < ends:
        await scene.attacker.client.post(PATH, content=bodies[number % len(bodies)], headers=JSON)
        number, sent = number + SENDERS, sent + 1
    return sent


async def _declared(scene: Scene, size: int) -> WireResponse:
    headers = {**JSON, **scene.attacker.key.headers, "Host": "x", "Content-Length": str(size), "Connection": "close"}
    return await exchange(scene.stage.api.port, request_bytes("POST", PATH, headers, b"{"))


async def _chunked(client: httpx.AsyncClient, size: int) -> httpx.Response:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(size // 65_536):
            yield bytes(65_536)

    try:
        return await client.post(PATH, content=chunks(), headers=JSON)
    except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        return httpx.Response(400, text="the connection was closed before the body ended")
