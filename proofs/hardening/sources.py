"""Slow sources, many imports of one host, and URLs that lead into the network of the installation."""

import asyncio
import time
from collections.abc import Sequence

import httpx

from cutroom.platform.clock import system_clock
from cutroom.webhooks.publishing import publish_event
from proofs.hardening.attacks import Scene, Tenant, summary
from proofs.hardening.hosts import DOMAIN

SOURCES, SSRF, WEBHOOKS = "sources", "SSRF", "webhooks"
PER_HOST = 2
SETTINGS = {"imports_per_host": PER_HOST, "import_window_seconds": 2.0, "import_grace_seconds": 30.0}
END_SECONDS = 110.0
TOO_SLOW = "The source sends its file too slowly to be imported."
UNREACHABLE = "The source could not be fetched."


async def attack_with_sources(scene: Scene) -> None:
    """Run all of them at once: most of the time they wait."""
    await scene.host.canary.check()
    await asyncio.gather(_attack_slots(scene), _attack_network(scene), _attack_webhooks(scene), _attack_others(scene))
    canary = scene.host.canary.connections
    scene.log.add(SSRF, "any of these URLs reaches an internal listener", f"{canary} connections", succeeded=canary > 0)


async def import_url(client: httpx.AsyncClient, url: str) -> httpx.Response:
    return await client.post("/v1/videos", json={"source": {"type": "https", "url": url}})


async def wait_for_job(client: httpx.AsyncClient, job_id: str, *, seconds: float = END_SECONDS) -> str:
    """`ready`, or the message of the failure."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        job = (await client.get(f"/v1/jobs/{job_id}")).json()
        if job["status"] in {"ready", "failed"}:
            return "ready" if job["status"] == "ready" else str(job["error"]["message"])
        await asyncio.sleep(0.1)
    return "still running"


async def _import(tenant: Tenant, url: str) -> str:
    """What the caller sees of an import in the end."""
    response = await import_url(tenant.client, url)
    if response.status_code != 202:
        return summary(response)
    return await wait_for_job(tenant.client, f"import_{response.json()['videoId']}")


async def _attack_slots(scene: Scene) -> None:
    """Slow downloads from one host into two libraries, while the victim imports from another host."""
    log, host = scene.log, scene.host
    other = await scene.tenant("127.0.2.2")
    number = 4 if scene.short else 10
    tenants = [scene.attacker, other] * (number // 2)
    async with scene.reads.during("slow sources", log.ratios):
        imports = [
            asyncio.create_task(_import(tenant, host.url("slow", f"/slow/{index}.mp4")))
            for index, tenant in enumerate(tenants)
        ]
        async with asyncio.timeout(END_SECONDS):
            while not host.most_downloads["slow"]:
                await asyncio.sleep(0.02)
        victim = await _import(scene.victim, host.url("victim", "/video.mp4"))
        outcomes = await asyncio.gather(*imports)
    slow = [each for each in outcomes if each != TOO_SLOW]
    log.add(SOURCES, f"{number} sources that send 4 KiB/s", outcomes[0], succeeded=bool(slow))
    most = host.most_downloads["slow"]
    log.add(SOURCES, f"{number} imports of one host into two libraries", f"{most} at once", succeeded=most > PER_HOST)
    log.add(SOURCES, "… while another tenant imports from elsewhere", victim, succeeded=victim != "ready")
    await other.client.aclose()


async def _attack_network(scene: Scene) -> None:
    host, port = scene.host, scene.host.canary.port
    tenants = [await scene.tenant(f"127.0.2.{number}") for number in range(10, 14)]  # downloads per library are few
    urls = {
        "loopback": f"https://127.0.0.1:{port}/video.mp4",
        "loopback, IPv6": f"https://[::1]:{port}/video.mp4",
        "loopback as an integer": f"https://2130706433:{port}/video.mp4",
        "loopback in hexadecimal": f"https://0x7f.1:{port}/video.mp4",
        "localhost": f"https://localhost:{port}/video.mp4",
        "plain HTTP": f"http://127.0.0.1:{port}/video.mp4",
        "link-local metadata": "https://169.254.169.254/latest/meta-data/",
        "a user before the host": f"https://victim.{DOMAIN}@127.0.0.1:{port}/video.mp4",
        "a backslash in the host": f"https://127.0.0.1:{port}\\.{DOMAIN}/video.mp4",
        "a file": "file:///etc/passwd",
        "gopher to Redis": f"gopher://127.0.0.1:{port}/_INFO",
        "a name of loopback": f"https://loopback.hostile.example.com:{port}/video.mp4",
        "a name of IPv6 loopback": f"https://loopback-v6.hostile.example.com:{port}/video.mp4",
        "a name of the metadata service": f"https://metadata.hostile.example.com:{port}/video.mp4",
        "a name of a private address": f"https://private.hostile.example.com:{port}/video.mp4",
        "a name with a public and a private address": f"https://mixed.hostile.example.com:{port}/video.mp4",
        "a name of a mapped address": f"https://mapped.hostile.example.com:{port}/video.mp4",
    }
    names = ("loopback", "plain", "metadata", "name", "file", "loop")
    urls |= {f"a redirect to {name}": host.url(f"hop-{name}", f"/redirect/{name}") for name in names}
    if scene.short:  # each that is accepted is tried four times by a worker
        for tried in ("a name of IPv6 loopback", "a name of a private address", "a name of a mapped address"):
            del urls[tried]
    outcomes = await asyncio.gather(
        *(_import(tenants[number % len(tenants)], url) for number, url in enumerate(urls.values()))
    )
    allowed = (UNREACHABLE, "400 INVALID_ARGUMENT", "422 UNSUPPORTED_SOURCE")
    for tried, outcome in zip(urls, outcomes, strict=True):
        scene.log.add(SSRF, f"import of {tried}", outcome, succeeded=outcome not in allowed)
    for tenant in tenants:
        await tenant.client.aclose()


async def _attack_webhooks(scene: Scene) -> None:
    """Endpoints inside the network: refused when they are registered, or when they are called."""
    host, port = scene.host, scene.host.canary.port
    tenant = await scene.tenant("127.0.2.4")
    urls = {
        "loopback": f"https://127.0.0.1:{port}/",
        "IPv6 loopback": f"https://[::1]:{port}/",
        "plain HTTP": f"http://hook.{DOMAIN}:{port}/",
        "the metadata service": "https://169.254.169.254/",
        "localhost": f"https://localhost:{port}/",
        "a local name": f"https://database.internal:{port}/",
        "a user name": f"https://user:secret@hook.{DOMAIN}/",
        "a fragment": f"https://hook.{DOMAIN}/#x",
        "a port of SSH": f"https://hook.{DOMAIN}:22/",
        "a line break": f"https://hook.{DOMAIN}/\r\nX: y",
        "100,000 characters": f"https://hook.{DOMAIN}/" + "a" * 100_000,
    }
    for tried, url in urls.items():
        response = await tenant.client.post("/v1/webhook-endpoints", json={"url": url})
        scene.log.expect(WEBHOOKS, f"endpoint at {tried}", response, 400)
    reached = {
        "a name of loopback": f"https://loopback.hostile.example.com:{port}/",
        "a name of the metadata service": "https://metadata.hostile.example.com/",
        "a redirect to loopback": host.url("hook", "/redirect/loopback"),
    }
    endpoints = {
        tried: (await tenant.client.post("/v1/webhook-endpoints", json={"url": url})).raise_for_status().json()["id"]
        for tried, url in reached.items()
    }
    await publish(scene, tenant.library_id)
    for tried, outcome in zip(endpoints, await _outcomes(scene, list(endpoints.values())), strict=True):
        scene.log.add(WEBHOOKS, f"delivery to {tried}", outcome, succeeded=outcome.startswith(("delivered", "none")))
    await tenant.client.aclose()


async def publish(scene: Scene, library_id: str) -> None:
    """Publish an event as a finished job does."""
    async with scene.runtime.database.transaction(library_id) as connection:
        await publish_event(connection, library_id, type="job.ready", data={"id": "import_x"}, now=system_clock())


async def _outcomes(scene: Scene, endpoint_ids: Sequence[str]) -> list[str]:
    """The outcome of the first attempt at each endpoint."""
    deadline = time.monotonic() + END_SECONDS
    while True:
        rows = await scene.fetch(
            "SELECT endpoint_id, outcome, status FROM delivery_attempts WHERE endpoint_id = ANY ($1) AND number = 1",
            list(endpoint_ids),
        )
        found = {row["endpoint_id"]: f"{row['outcome']} {row['status'] or ''}".strip() for row in rows}
        if len(found) == len(endpoint_ids) or time.monotonic() > deadline:
            return [found.get(each, "none") for each in endpoint_ids]
        await asyncio.sleep(0.1)


async def _attack_others(scene: Scene) -> None:
    """Other operations that take URLs."""
    client, port = scene.attacker.client, scene.host.canary.port
    destination = {
        "endpoint": f"https://127.0.0.1:{port}",
        "region": "x",
        "bucket": "bucket",
        "accessKeyId": "AKIAIOSFODNN7EXAMPLE",
        "secretAccessKey": "secret",
        "enabled": True,
    }
    response = await client.put("/v1/library/destination", json=destination)
    scene.log.expect(SSRF, "a destination bucket at loopback", response, 400)
    sample = {"name": "Voice", "sample_url": f"https://127.0.0.1:{port}/voice.wav"}
    scene.log.expect(SSRF, "a voice sample at loopback", await client.post("/v1/voices/add", json=sample), 400)
