"""Requests: idempotency across keys, HEAD and Allow, uploads that end without their file, capabilities, the library."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import obstore
from langcodes import Language
from temporalio.client import Client

from cutroom.accounts.principals import Role
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.uploads.rules import CHUNK_BYTES
from dev.scratch import environment_of
from dev.server import Server
from proofs.repairs.stage import RepairsStage, Rows

SWEEP_SECONDS = 120
POLL_SECONDS = 0.2
TOLERANCE = 0.002  # minutes are rounded
NO_KEY = {"Authorization": ""}
UNLISTED = ("tlh", "vo", "ia")  # no installation translates into these
VOLATILE_HEADERS = frozenset(
    {"x-request-id", "date", "ratelimit-remaining", "ratelimit-reset", "set-cookie"}
    | {"transfer-encoding"}  # of a streamed body, which HEAD does not have
)
# One path and method of each kind that is not allowed, with what is.
NOT_ALLOWED = (
    ("PUT", "/v1/folders", "GET, HEAD, POST"),
    ("POST", "/v1/health", "GET, HEAD"),
    ("HEAD", "/v1/videos/a/quote", "POST"),
    ("POST", "/v1/capabilities", "GET, HEAD"),
    ("DELETE", "/library", "GET, HEAD"),
    ("PUT", "/static/console.css", "GET, HEAD"),
    ("PATCH", "/uploads/a", "DELETE, OPTIONS, POST, PUT"),
    ("POST", "/media/a/b/c/d.mp4", "GET, HEAD, OPTIONS"),
    ("DELETE", "/files/a/libraries/b/c.mp4", "GET, HEAD, OPTIONS"),
)


async def check(stage: RepairsStage, rows: Rows) -> None:
    await _check_idempotency_scope(stage, rows)
    await _check_head(stage, rows)
    await _check_allow(stage, rows)
    own_key = await stage.running.accounts.key(stage.running.person)  # whose unfinished jobs are only those made here
    async with httpx.AsyncClient(base_url=stage.running.api.url, headers=own_key.headers, timeout=60) as client:
        await _check_canceled_upload(stage, rows, client)
        await _check_expired_upload(stage, rows, client)
    await _check_capabilities(stage, rows)
    await _check_library(stage, rows)


async def _check_idempotency_scope(stage: RepairsStage, rows: Rows) -> None:
    accounts, person, key = stage.running.accounts, stage.running.person, new_id()

    async def create(headers: dict[str, str]) -> httpx.Response:
        return await stage.client.post(
            "/v1/folders", json={"name": "Rushes"}, headers={**headers, "Idempotency-Key": key}
        )

    first = await create({})
    rotated = await create((await accounts.key(person)).headers)
    rows.check(
        8,
        "a rotated key of the same account replays the stored response",
        expected="the same bytes, replayed",
        measured=f"{rotated.status_code}, replayed: {rotated.headers.get('idempotency-replayed', 'no')}",
        holds=rotated.content == first.content and rotated.headers.get("idempotency-replayed") == "true",
    )
    workspace_id, member = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, member, role=Role.EDITOR)
    keys = [await accounts.key(each, library_id=workspace_id) for each in (person, member)]
    ids = {(await create(each.headers)).json()["id"] for each in keys} | {first.json()["id"]}
    rows.check(
        8,
        "another library, or another account of a workspace, does not",
        expected="3 folders",
        measured=f"{len(ids)} folders",
        holds=len(ids) == 3,
    )


async def _check_head(stage: RepairsStage, rows: Rows) -> None:
    """Every documented GET operation with this video's id, and pages beside the API."""
    document = (await stage.client.get("/v1/openapi.json")).json()
    templates = [path for path, item in document["paths"].items() if "get" in item]
    paths = [path.replace("{videoId}", stage.talk).replace("{", "").replace("}", "") for path in templates]
    paths += ["/v1/openapi.json", "/docs", "/sign-in", "/static/console.css", "/v1/none"]
    different = []
    for path in paths:
        get, head = await _get(stage.client, path), await stage.client.head(path)
        if (head.status_code, head.content) != (get.status_code, b"") or _stable(head) != _stable(get):
            different.append(path)
    rows.check(
        10,
        f"HEAD has the status and headers of GET, without a body, on {len(paths)} paths",
        expected="no difference",
        measured=different or "no difference",
        holds=not different and len(paths) > 25,
    )


async def _get(client: httpx.AsyncClient, path: str) -> httpx.Response:
    """The response; an event stream is not read, because it ends after minutes."""
    async with client.stream("GET", path) as response:
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            await response.aread()
    return response


def _stable(response: httpx.Response) -> dict[str, str]:
    """Headers without the values that differ between any two requests; signed URLs make a body's length vary."""
    kept = {name: value for name, value in response.headers.items() if name not in VOLATILE_HEADERS}
    return {**kept, "content-length": "present"} if "content-length" in kept else kept


async def _check_allow(stage: RepairsStage, rows: Rows) -> None:
    wrong = []
    for method, path, allowed in NOT_ALLOWED:
        response = await stage.client.request(method, path)
        if (response.status_code, response.headers.get("allow")) != (405, allowed):
            wrong.append(f"{method} {path}: {response.status_code} {response.headers.get('allow')}")
    rows.check(
        10,
        "405 lists the allowed methods",
        expected=f"{len(NOT_ALLOWED)} of {len(NOT_ALLOWED)}",
        measured=wrong or f"{len(NOT_ALLOWED)} of {len(NOT_ALLOWED)}",
        holds=not wrong,
    )


async def _check_canceled_upload(stage: RepairsStage, rows: Rows, client: httpx.AsyncClient) -> None:
    before = await _unfinished(client)
    video_id = await _announce(client)
    session = (await client.post(f"/v1/videos/{video_id}/uploads", json={"fileName": "a.mp4"})).json()
    started = await client.post(session["url"], headers={**NO_KEY, "x-goog-resumable": "start"})
    chunk, location = os.urandom(CHUNK_BYTES), started.headers["location"]
    content_range = {"Content-Range": f"bytes 0-{CHUNK_BYTES - 1}/*"}
    await client.put(location, content=chunk, headers={**NO_KEY, **content_range})
    during = await _unfinished(client)
    statuses = [(await client.delete(f"/v1/videos/{video_id}/uploads")).status_code for _ in range(2)]
    job = (await client.get(f"/v1/jobs/import_{video_id}")).json()
    rows.check(
        12,
        "DELETE cancels an upload, and repeating it has no effect",
        expected="204, 204, failed with CANCELLED, its slots free",
        measured=f"{statuses}, {job['status']} with {job['error']['code']}, unfinished {before}, {during}, "
        f"{await _unfinished(client)}",
        holds=statuses == [204, 204]
        and job["error"]["code"] == "CANCELLED"
        and (during, await _unfinished(client)) == (before + 2, before),
    )
    resumed = await client.put(location, content=chunk, headers=NO_KEY)
    await _sweep(stage)
    left = await _until(lambda: _partial_parts(stage), 0)
    rows.check(
        12,
        "the session of a canceled upload ends, and what it received is deleted",
        expected="410, 0 objects",
        measured=f"{resumed.status_code}, {left} objects",
        holds=(resumed.status_code, left) == (410, 0),
    )
    received = await client.delete(f"/v1/videos/{stage.talk}/uploads")
    rows.check(
        12,
        "a file that was received cannot be canceled",
        expected="409 FAILED_PRECONDITION",
        measured=f"{received.status_code} {received.json()['error']['code']}",
        holds=received.json()["error"]["code"] == "FAILED_PRECONDITION",
    )


async def _check_expired_upload(stage: RepairsStage, rows: Rows, client: httpx.AsyncClient) -> None:
    """A second API process with a wait of a second: the first one's uploads keep theirs of a day."""
    settings = stage.running.settings.model_copy(update={"upload_wait_seconds": 1, "metrics_port": None})
    impatient = Server(environment_of(settings))
    impatient.start()
    try:
        async with httpx.AsyncClient(base_url=impatient.url, headers=client.headers, timeout=60) as other:
            expiring = await _announce(other)
    finally:
        impatient.stop()
    patient, before = await _announce(client), await _unfinished(client)

    async def error() -> Any:  # noqa: ANN401 (JSON)
        await _sweep(stage)
        return (await client.get(f"/v1/jobs/import_{expiring}")).json().get("error", {}).get("details")

    details = await _until(error, {"reason": "expired"})
    waiting = (await client.get(f"/v1/jobs/import_{patient}")).json()["status"]
    after = await _unfinished(client)
    default = stage.running.settings.upload_wait_seconds
    rows.check(
        12,
        "an upload that is never sent expires after its wait, a day by default, and frees its slots",
        expected="expired, the other waits; 2 slots free; 86400 s",
        measured=f"{details}, the other is {waiting}; {before - after} slots free; {default} s",
        holds=(details, waiting, before - after, default) == ({"reason": "expired"}, "queued", 2, 86_400),
    )
    await client.delete(f"/v1/videos/{patient}/uploads")


async def _check_capabilities(stage: RepairsStage, rows: Rows) -> None:
    found = (await stage.client.get("/v1/capabilities")).json()
    pairs = [pair for pair in found["pairs"] if pair["source"] == "en"]
    captions = {pair["target"] for pair in pairs}
    dubs = {pair["target"] for pair in pairs if pair["dubs"]}
    wrong = []
    for code in sorted({*captions, *(each["code"] for each in found["languages"]), *UNLISTED}):
        bundles = ({"captionLanguageCodes": [code]}, captions), ({"dubs": [{"languages": [code]}]}, dubs)
        for bundle, listed in bundles:
            quoted = await stage.client.post(f"/v1/videos/{stage.talk}/quote", json=bundle)
            is_listed = code in listed or _without_region(code) in listed
            if quoted.status_code != (200 if is_listed else 400):
                wrong.append(f"{bundle}: {quoted.status_code}")
    names = {key: len(found[key]) for key in ("languages", "pairs", "voices", "models", "limits", "products")}
    rows.check(
        22,
        "capabilities list exactly the languages that can be quoted for an English video",
        expected="no disagreement, nothing empty",
        measured=wrong or f"no disagreement; {names}",
        holds=not wrong and bool(captions) and bool(dubs) and all(names.values()),
    )


def _without_region(code: str) -> str | None:
    """The language alone if the region is its usual one: `pt` for `pt-BR`, but not for `pt-PT`."""
    language = Language.get(code)
    base = Language.make(language=language.language)
    return base.to_tag() if base.maximize() == language.maximize() else None


async def _check_library(stage: RepairsStage, rows: Rows) -> None:
    """The maintained totals against sums over the rows that they count, which running jobs may change in between."""
    found, expected = {}, {}

    async def agree() -> bool:
        nonlocal found, expected
        found, expected = (await stage.client.get("/v1/library")).json(), await _sums(stage)
        usage, credit = found["usage"], found["credits"]
        measured = {name: usage[name] for name in expected if name in usage}
        measured |= {name: credit[name] for name in expected if name in credit}
        return all(abs(measured[name] - value) < TOLERANCE for name, value in expected.items())

    same = await _until(agree, expected=True)
    rows.check(
        23,
        "the library states its plan, limits, and use of storage, minutes and credits",
        expected=f"business; {expected}",
        measured=f"{found['plan']}; {found['usage']}; {found['credits']}",
        holds=same
        and found["plan"] == "business"
        and found["limits"]["unfinishedJobs"] > 0
        and expected["importedMinutes"] > 0,
    )


async def _sums(stage: RepairsStage) -> dict[str, float]:
    row = await stage.connection.fetchrow(
        """SELECT (SELECT sum(size_bytes) FROM sources WHERE library_id = $1) AS "storageBytes",
                  (SELECT sum(duration_seconds) / 60 FROM videos WHERE library_id = $1) AS "importedMinutes",
                  (SELECT sum(media_seconds) / 60 FROM jobs WHERE library_id = $1 AND status = 'ready'
                      AND type IN ('transcript', 'captions', 'dub')) AS "processedMinutes",
                  wallet / 1000.0 AS balance, escrow / 1000.0 AS "inEscrow"
           FROM ledger_balances WHERE library_id = $1""",
        stage.library_id,
    )
    return {name: float(value or 0) for name, value in (row or {}).items()}


async def _announce(client: httpx.AsyncClient) -> str:
    created = await client.post("/v1/videos", json={"source": {"type": "upload"}})
    created.raise_for_status()
    video_id: str = created.json()["videoId"]
    return video_id


async def _unfinished(client: httpx.AsyncClient) -> int:
    count: int = (await client.get("/v1/library")).json()["usage"]["unfinishedJobs"]
    return count


async def _sweep(stage: RepairsStage) -> None:
    """Run the minutely schedule now."""
    settings = stage.running.settings
    client = await Client.connect(settings.temporal_address, namespace=settings.temporal_namespace)
    await client.get_schedule_handle("sweep-uploads").trigger()


async def _partial_parts(stage: RepairsStage) -> int:
    store = Storage.connect(stage.running.settings).store
    return len(await obstore.list(store, f"libraries/{stage.library_id}/uploads/").collect_async())


async def _until(read: Callable[[], Awaitable[Any]], expected: object) -> Any:  # noqa: ANN401 (JSON)
    """Poll until a value is read, or time is up; returns the last one."""
    deadline = time.monotonic() + SWEEP_SECONDS
    while (value := await read()) != expected and time.monotonic() < deadline:
        await asyncio.sleep(POLL_SECONDS)
    return value
