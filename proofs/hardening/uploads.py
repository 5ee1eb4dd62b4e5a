"""Half-open, slow and forged uploads."""

import asyncio
import base64
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import httpx

from cutroom.platform.clock import system_clock
from cutroom.products.uploads.grants import read_grant, sign_grant
from proofs.hardening.attacks import Scene, Tenant, summary
from proofs.hardening.wire import HalfOpenRequest, request_bytes
from tests.support.stage import upload

FAMILY = "uploads"
PER_LIBRARY, PER_ACCOUNT, PER_PROCESS, IDLE_SECONDS = 4, 6, 12, 2.0
SETTINGS = {
    "upload_slots": PER_PROCESS,
    "upload_slots_per_library": PER_LIBRARY,
    "upload_slots_per_account": PER_ACCOUNT,
    "upload_idle_seconds": IDLE_SECONDS,
}
DECLARED_BYTES, SENT_BYTES = 1_000_000, 100
FULL, SILENT = 429, 408
NO_KEY = {"Authorization": ""}


async def attack_uploads(scene: Scene) -> None:
    await _attack_grants(scene)
    await _attack_slots(scene)
    await _attack_accounts(scene)
    await _attack_connections(scene)


async def start_url(client: httpx.AsyncClient) -> tuple[str, str]:
    """A video without a file, and the URL that starts its upload."""
    source = {"type": "upload", "fileName": "video.mp4"}
    video_id: str = (await client.post("/v1/videos", json={"source": source})).raise_for_status().json()["videoId"]
    granted = await client.post(f"/v1/videos/{video_id}/uploads", json={"fileName": "video.mp4"})
    return video_id, granted.raise_for_status().json()["url"]


async def session_url(client: httpx.AsyncClient) -> str:
    _, url = await start_url(client)
    started = await client.post(url, headers={**NO_KEY, "x-goog-resumable": "start"})
    return str(started.raise_for_status().headers["location"])


async def half_open(scene: Scene, url: str) -> HalfOpenRequest:
    """A PUT that sends its first bytes and no more."""
    target = httpx.URL(url).raw_path.decode()
    headers = {"Host": "x", "Content-Length": str(DECLARED_BYTES), "Connection": "close"}
    return await HalfOpenRequest.open(scene.stage.api.port, request_bytes("PUT", target, headers, bytes(SENT_BYTES)))


async def _statuses(requests: Sequence[HalfOpenRequest]) -> Counter[int]:
    return Counter(await asyncio.gather(*(each.status() for each in requests)))


async def _refusals(requests: Sequence[HalfOpenRequest], number: int) -> list[asyncio.Task[int]]:
    """Wait until this many of the requests have been refused; the others hold their slots."""
    tasks = [asyncio.create_task(each.status()) for each in requests]
    for finished in asyncio.as_completed(list(tasks)):
        await finished
        if sum(each.done() for each in tasks) >= number:
            break
    return tasks


async def _attack_slots(scene: Scene) -> None:
    """Many half-open uploads of one library, while the victim uploads and reads."""
    log, attacker = scene.log, scene.attacker
    number = 3 * PER_LIBRARY
    urls = [await session_url(attacker.client) for _ in range(number)]
    async with scene.reads.during("half-open uploads", log.ratios):
        requests = [await half_open(scene, url) for url in urls]
        tasks = await _refusals(requests, number - PER_LIBRARY)
        sent = await _upload(scene, scene.victim)
        found = Counter([await each for each in tasks])
    tried = f"{number} half-open uploads into one library"
    log.add(FAMILY, tried, dict(found), succeeded=found[FULL] < number - PER_LIBRARY)
    log.add(FAMILY, "… while another tenant uploads", sent, succeeded=sent != "200")
    silent = f"silence for more than {IDLE_SECONDS:.0f} s in an upload"
    log.add(FAMILY, silent, dict(found), succeeded=found[SILENT] + found[FULL] != number)
    again = await _upload(scene, attacker)
    log.add(FAMILY, "slots stay taken after the senders fell silent", again, succeeded=again != "200")
    for each in requests:
        each.close()
    # Senders that disconnect.
    requests = [await half_open(scene, url) for url in urls[:PER_LIBRARY]]
    for each in requests:
        each.close()
    freed = await _upload_when_free(scene, attacker)
    log.add(FAMILY, "slots stay taken after the senders disconnected", freed, succeeded=freed != "200")


async def _attack_accounts(scene: Scene) -> None:
    """One account with several libraries, and several accounts, up to the bound of the process."""
    log, tenant = scene.log, await scene.tenant("127.0.2.1")
    urls = [await session_url(tenant.client) for _ in range(PER_LIBRARY)]
    async with scene.lock:
        workspace = await scene.accounts.workspace(tenant.person)
        key = await scene.accounts.key(tenant.person, library_id=workspace)
    async with httpx.AsyncClient(base_url=scene.stage.api.url, headers=key.headers, timeout=60) as client:
        urls += [await session_url(client) for _ in range(PER_LIBRARY)]
    requests = [await half_open(scene, url) for url in urls]
    found = await _statuses(requests)
    tried = f"{len(urls)} half-open uploads of one account into two libraries"
    log.add(FAMILY, tried, dict(found), succeeded=found[SILENT] > PER_ACCOUNT)
    await tenant.client.aclose()


async def _attack_connections(scene: Scene) -> None:
    """Connections that never finish their headers, and uploads that drip."""
    log, port = scene.log, scene.stage.api.port
    number = 100 if scene.short else 400
    async with scene.reads.during("half-open headers", log.ratios):
        started = b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: "
        requests = [await HalfOpenRequest.open(port, started, address=f"127.0.3.{1 + n % 200}") for n in range(number)]
        ends = time.monotonic() + scene.load_seconds
        served = 0
        while time.monotonic() < ends:
            served += (await scene.victim.client.get("/v1/videos")).status_code == 200
            for each in requests[:: max(1, number // 20)]:
                each.writer.write(b"x")
    for each in requests:
        each.close()
    tried = f"{number} connections that send their headers byte by byte"
    log.add(FAMILY, tried, f"the victim got {served} responses", succeeded=not served)


async def _upload(scene: Scene, tenant: Tenant) -> str:
    try:
        await upload(tenant.client, scene.video_file)
    except httpx.HTTPStatusError as error:
        return summary(error.response)
    return "200"


async def _upload_when_free(scene: Scene, tenant: Tenant) -> str:
    """Upload as soon as a slot is free, as a client that respects 429 would; the server notices disconnects itself."""
    deadline = time.monotonic() + 10 * IDLE_SECONDS
    while (found := await _upload(scene, tenant)).startswith(str(FULL)) and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    return found


async def _attack_grants(scene: Scene) -> None:
    """Changed, expired and exchanged upload URLs."""
    attacker, victim, box = scene.attacker, scene.victim, scene.runtime.secret_box
    own_id, url = await start_url(attacker.client)
    victim_id, victim_url = await start_url(victim.client)
    token, victim_token = (each.partition("X-Goog-Signature=")[2] for each in (url, victim_url))
    payload, _, signature = token.partition(".")
    victim_payload = victim_token.partition(".")[0]
    grant = read_grant(box, token, now=system_clock())
    expired = sign_grant(box, replace(grant, expires_at=1))
    fields = _fields(payload)
    foreign = _encode([1, victim.library_id, victim_id, *fields[2:]])
    forged = {
        "another video's payload with its own signature": (victim_id, f"{victim_payload}.{signature}"),
        "the library in the payload replaced": (victim_id, f"{foreign}.{signature}"),
        "its own grant at another video's path": (victim_id, token),
        "a grant without a signature": (own_id, f"{payload}."),
        "a grant with a changed signature": (own_id, token[:-2] + ("AA" if token[-2:] != "AA" else "BB")),
        "an expired grant": (own_id, expired),
        "a grant of 60,000 characters": (own_id, "A" * 60_000),
    }
    async with scene.anonymous as client:
        for tried, (video_id, sent) in forged.items():
            path = f"/uploads/{video_id}?X-Goog-Signature={sent}"
            response = await client.post(path, headers={"x-goog-resumable": "start"})
            scene.log.expect("signed URLs", f"upload: {tried}", response, 400, 403, 414)
        session = httpx.URL(await session_url(attacker.client))
        secret = session.params["upload_id"]
        library_id, _, rest = secret.partition(".")
        for tried, sent in {
            "its own session at another video": secret,
            "its own session in another library": f"{victim.library_id}.{rest}",
            "a session of an injected library": f"{library_id}' OR '1'='1.{rest}",
        }.items():
            response = await client.put(f"/uploads/{victim_id}", params={"upload_id": sent}, content=b"x")
            scene.log.expect("signed URLs", f"upload: {tried}", response, 404, 410)


def _fields(payload: str) -> list[str]:
    fields: list[str] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))[1:]
    return fields


def _encode(fields: Sequence[object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).rstrip(b"=").decode()
