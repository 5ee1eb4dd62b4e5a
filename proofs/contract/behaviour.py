"""Promises that take more than one request to show, by their sentence: replay, identity, the library, ingest."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from cutroom.platform.ids import new_id
from proofs.contract.samples import renewed
from proofs.contract.stage import Answer, Caller, Stage

Behaviour = Callable[[Stage], Awaitable[None]]
BEHAVIOURS: dict[str, Behaviour] = {}
FOLDER = "POST /folders"
UPLOAD = {"source": {"type": "upload"}}


class BrokenPromiseError(Exception):
    """The service did something else."""


def promised(sentence: str) -> Callable[[Behaviour], Behaviour]:
    def remember(behaviour: Behaviour) -> Behaviour:
        BEHAVIOURS[sentence] = behaviour
        return behaviour

    return remember


def expect(holds: bool, found: object) -> None:  # noqa: FBT001 (reads as a sentence)
    if not holds:
        raise BrokenPromiseError(str(found))


async def keyed(stage: Stage, operation: str, body: Any, key: str, **more: Any) -> Answer:  # noqa: ANN401
    return await stage.ask(operation, body, headers={"Idempotency-Key": key}, **more)


def is_replay(answer: Answer) -> bool:
    return bool(answer.headers.get("Idempotency-Replayed") == "true")


@promised("the same key, path and body bring the first answer again")
async def _replays(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    first, again = [await keyed(stage, FOLDER, body, key) for _ in range(2)]
    expect(first.status == 201 and not is_replay(first), first)
    expect(is_replay(again) and (again.status, again.document) == (201, first.document), again)


@promised("an error is replayed like a success")
async def _replays_errors(stage: Stage) -> None:
    key, body = new_id(), {"name": "All Videos"}
    first, again = [await keyed(stage, FOLDER, body, key) for _ in range(2)]
    expect(first.status == 400 and is_replay(again) and again.document == first.document, again)


@promised("the same JSON in another order or spacing is the same body")
async def _canonical(stage: Stage) -> None:
    key, name = new_id(), new_id()
    await keyed(stage, FOLDER, {"name": name, "x": 1}, key)
    spaced = f'{{ "x" : 1.0,\n "name": "{name}" }}'.encode()
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    again = await stage.ask(FOLDER, headers=headers, content=spaced)
    expect(is_replay(again) and again.status == 201, again)


@promised("a key with another body is refused, and says which of path and body differ")
async def _other_body(stage: Stage) -> None:
    key = new_id()
    await keyed(stage, FOLDER, {"name": new_id()}, key)
    other = await keyed(stage, FOLDER, {"name": new_id()}, key)
    expect(other.code == "IDEMPOTENCY_REPLAY", other)
    expect(other.document["error"]["details"] == {"pathMatch": True, "hashMatch": False}, other)


@promised("a key with another path is refused, and says which of path and body differ")
async def _other_path(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    await keyed(stage, FOLDER, body, key)
    other = await keyed(stage, "POST /webhook-endpoints", body, key)
    expect(other.code == "IDEMPOTENCY_REPLAY", other)
    expect(other.document["error"]["details"] == {"pathMatch": False, "hashMatch": True}, other)


@promised("an answer is kept for 24 hours and no longer")
async def _forgets(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    await keyed(stage, FOLDER, body, key)
    age = "UPDATE idempotency_records SET created_at = created_at - $2::text::interval WHERE key = $1"
    await stage.accounts.connection.execute(age, key, "23 hours 55 minutes")
    expect(is_replay(await keyed(stage, FOLDER, body, key)), "forgotten before its time")
    await stage.accounts.connection.execute(age, key, "10 minutes")
    expect(not is_replay(await keyed(stage, FOLDER, body, key)), "replayed after 24 hours")


@promised("a key has 1 to 255 characters")
async def _key_length(stage: Stage) -> None:
    for key, status in ((new_id()[0], 201), (new_id() + "k" * 229, 201), ("k" * 256, 400), ("", 400)):
        answer = await keyed(stage, FOLDER, {"name": new_id()}, key)
        # One character may have been used before, by another part of this proof.
        expect(answer.status == status or answer.code == "IDEMPOTENCY_REPLAY", f"{len(key)}: {answer}")


@promised("refusals for want of identity, permission or patience are not kept")
async def _unretained(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    refused = await keyed(stage, FOLDER, body, key, caller=stage.lacking["videos:write"])
    expect(refused.status == 403, refused)
    again = await keyed(stage, FOLDER, body, key, caller=stage.lacking["videos:write"])
    expect(not is_replay(again) and again.status == 403, again)


@promised("a trailing slash is the same path")
async def _slash(stage: Stage) -> None:
    key, ids = new_id(), {"videoId": await stage.rows.video()}
    operation = "POST /videos/{videoId}/professional-hosting"
    first = await keyed(stage, operation, {}, key, ids=ids)
    again = await keyed(stage, f"{operation}/", {}, key, ids=ids)
    expect(first.status == 202 and is_replay(again) and again.document == first.document, again)
    other = await keyed(stage, f"{operation}/", {"other": 1}, key, ids=ids)
    expect(other.code == "IDEMPOTENCY_REPLAY", other)


@promised("a key is taken as Bearer or as X-Api-Key")
async def _headers(stage: Stage) -> None:
    secret = stage.callers["owner"].headers["Authorization"].removeprefix("Bearer ")
    answer = await stage.ask("GET /videos", caller=Caller({"X-Api-Key": secret}, {}))
    expect(answer.status == 200, answer)


@promised("xi-api-key and OAuth tokens open the speech operations, and no others")
async def _speech_credentials(stage: Stage) -> None:
    secret = stage.callers["owner"].headers["Authorization"].removeprefix("Bearer ")
    for caller in (Caller({"xi-api-key": secret}, {}), stage.callers["an OAuth token"]):
        voices, videos = await stage.ask("GET /voices", caller=caller), await stage.ask("GET /videos", caller=caller)
        expect((voices.status, videos.status) == (200, 401), f"{voices.status}, {videos.status}")


@promised("a key that was made without scopes has all of them")
async def _all_scopes(stage: Stage) -> None:
    for scope, only in stage.only.items():
        expect(bool(only.headers), scope)
    for operation in ("GET /videos", "GET /voices", "GET /webhook-endpoints", "GET /jobs/{jobId}"):
        expect((await stage.ask(operation)).status == 200, operation)


@promised("videos are listed newest first, a page at a time, without gaps, and the last page has no token")
async def _pages(stage: Stage) -> None:
    whole = (await stage.ask("GET /videos", query={"limit": 100})).document["videos"]
    dates = [video["createdAt"] for video in whole]
    ids = [video["id"] for video in whole]
    expect(ids == sorted(ids, reverse=True) and len(dates) == len(ids), ids)
    found: list[str] = []
    query: dict[str, Any] = {"limit": 17}
    while True:
        page = (await stage.ask("GET /videos", query=query)).document
        found += [video["id"] for video in page["videos"]]
        if "nextPageToken" not in page:
            break
        query["pageToken"] = page["nextPageToken"]
    expect(found[: len(ids)] == ids and len(set(found)) == len(found), "pages overlap or leave something out")


@promised("a page token that was not given out is refused")
async def _forged_page(stage: Stage) -> None:
    answer = await stage.ask("GET /videos", query={"pageToken": "forged"})
    expect(answer.code == "INVALID_ARGUMENT" and answer.fields == ["pageToken"], answer)


@promised("folders nest three levels deep and tell their path from the root")
async def _folders(stage: Stage) -> None:
    parent, path = None, []
    for level in range(3):
        name = f"Level {level} {new_id()}"
        body = {"name": name} if parent is None else {"name": name, "parentId": parent}
        made = await stage.ask(FOLDER, body)
        path.append(name)
        expect(made.status == 201 and made.document["path"] == path, made)
        expect(made.document["parentId"] == parent, made)
        parent = made.document["id"]
    deeper = await stage.ask(FOLDER, {"name": "Too deep", "parentId": parent})
    expect(deeper.code == "INVALID_ARGUMENT" and deeper.fields == ["parentId"], deeper)


@promised("a URL is imported at once: the video and its import and transcript jobs are queued")
async def _import(stage: Stage) -> None:
    body = renewed({"source": {"type": "https", "url": "https://media.example.com/$UNIQUE.mp4"}})
    made = (await stage.ask("POST /videos", body)).document
    expect(made["status"] == "queued" and "upload" not in made, made)
    jobs = {job["id"]: job["status"] for job in made["jobs"]}
    wanted = {f"{kind}_{made['videoId']}": "queued" for kind in ("import", "transcript")}
    expect(jobs == wanted, jobs)
    video = (await stage.ask("GET /videos/{videoId}", ids={"videoId": made["videoId"]})).document
    expect(video["import"]["status"] == video["transcript"]["status"] == "queued", video)


@promised("an upload is told where it goes, and its session begins within 30 minutes")
async def _upload(stage: Stage) -> None:
    made = (await stage.ask("POST /videos", UPLOAD)).document
    expect(made["upload"]["sessionPath"] == f"/videos/{made['videoId']}/uploads", made)
    ids = {"videoId": made["videoId"]}
    session = (await stage.ask("POST /videos/{videoId}/uploads", {"fileName": "film.mp4"}, ids=ids)).document
    expect(session["storagePath"] == made["upload"]["storagePath"], session)
    expect(session["jobId"] == f"import_{made['videoId']}", session)
    url = session["url"].replace(session["url"].partition("/upload")[0], stage.url, 1)
    started = await stage.client.post(url, headers={"x-goog-resumable": "start", "Content-Type": "video/mp4"})
    expect(started.status_code == 201 and "Location" in started.headers, started.text)


@promised("recipes are staged with the import, one job for each")
async def _recipes(stage: Stage) -> None:
    products = {
        "dubs": [{"languages": ["pt", "de"]}, {"languages": ["pt"], "product": "premium"}],
        "shorts": {"kind": "promo"},
        "packaging": {"title": {"style": "funny"}, "thumbnail": True},
    }
    made = (await stage.ask("POST /videos", {**UPLOAD, "products": products})).document
    video_id, ids = made["videoId"], {job["id"] for job in made["jobs"]}
    wanted = {f"dub_{video_id}_{dub}" for dub in ("pt_plus", "de_plus", "pt_premium")}
    wanted |= {f"packaging_{video_id}_{automation}" for automation in ("generateTitle", "zeroPromptThumbnail")}
    expect(wanted <= ids and sum(each.startswith("shorts_") for each in ids) == 1, ids)
    expect({job["status"] for job in made["jobs"]} == {"queued"}, made)


@promised("a number of clips is rounded, and clips are brought into 1 to 4")
async def _rounded(stage: Stage) -> None:
    shorts = {"kind": "shorts", "numClips": 2.6}
    made = await stage.ask("POST /videos", {**UPLOAD, "products": {"shorts": shorts}})
    expect(made.status == 202, made)
    job_id = next(job["id"] for job in made.document["jobs"] if job["type"] == "shorts")
    plan = await stage.accounts.connection.fetchval("SELECT plan FROM jobs WHERE id = $1", job_id)
    expect(plan["numClips"] == 3, plan)
    for asked, expected in ((9, 4), (0, 1), (2, 2)):
        made = await stage.ask("POST /videos/{videoId}/shorts", {"kind": "clips", "numClips": asked})
        ids = {"shortsRequestId": made.document["shortsRequestId"]}
        read = (await stage.ask("GET /shorts/{shortsRequestId}", ids=ids)).document
        expect(read["clipsExpected"] == expected, read)


@promised("the same source twice is refused with the first video's id, unless the first failed")
async def _twice(stage: Stage) -> None:
    body = renewed({"source": {"type": "https", "url": "https://media.example.com/$UNIQUE.mp4"}})
    first = (await stage.ask("POST /videos", body)).document["videoId"]
    again = await stage.ask("POST /videos", body)
    expect(again.code == "ALREADY_EXISTS" and again.document["error"]["details"] == {"videoId": first}, again)


@promised("a secret is told once, and a deleted endpoint is gone")
async def _endpoint(stage: Stage) -> None:
    made = (await stage.ask("POST /webhook-endpoints", {"url": f"https://hooks.example.com/{new_id()}"})).document
    expect(made["secret"].startswith("whsec_"), made)
    expect(made["events"] == ["video.ready", "video.failed", "job.ready", "job.failed"], made)
    listed = await stage.ask("GET /webhook-endpoints")
    expect(made["id"] in listed.text and made["secret"] not in listed.text, listed)
    operation, ids = "DELETE /webhook-endpoints/{endpointId}", {"endpointId": made["id"]}
    gone, again = [await stage.ask(operation, ids=ids) for _ in range(2)]
    expect((gone.status, gone.document, again.status) == (204, None, 404), f"{gone}, then {again}")
    expect(made["id"] not in (await stage.ask("GET /webhook-endpoints")).text, "it is still listed")


@promised("the document is OpenAPI 3.1 of version 1.0.0")
async def _document(stage: Stage) -> None:
    document = json.loads((await stage.client.get("/v1/openapi.json")).content)
    expect(document["openapi"].startswith("3.1"), document["openapi"])
    expect(document["info"]["version"] == "1.0.0", document["info"])


@promised("whoever asks too much is told when to come back, and whoever has too few credits is not")
async def _retry_after(stage: Stage) -> None:
    limited = [await stage.ask("GET /videos", caller="somebody limited") for _ in range(3)][-1]
    expect(limited.code == "RATE_LIMITED" and int(limited.headers["Retry-After"]) >= 1, limited)
    poor = await stage.ask("POST /videos/{videoId}/shorts", {"kind": "promo"}, caller="somebody poor")
    expect(poor.code == "INSUFFICIENT_CREDITS" and "Retry-After" not in poor.headers, poor)
    details = poor.document["error"]["details"]
    expect(set(details) == {"required", "available", "shortfall"}, details)
    expect(details["required"] - details["available"] == details["shortfall"] > 0, details)


@promised("a method that a path does not have is refused with those that it has")
async def _allow(stage: Stage) -> None:
    answer = await stage.ask("DELETE /folders")
    expect(answer.code == "METHOD_NOT_ALLOWED" and answer.headers["Allow"] == "GET, POST", answer)


@promised("a twin waits for the first request and gets its answer")
async def _twins(stage: Stage) -> None:
    key, body = new_id(), {"name": new_id()}
    answers = await asyncio.gather(*(keyed(stage, FOLDER, body, key) for _ in range(5)))
    expect({answer.status for answer in answers} == {201}, [str(answer) for answer in answers])
    expect(len({answer.text for answer in answers}) == 1, "twins made several folders")
    expect(sum(is_replay(answer) for answer in answers) == 4, "they are not all replays")
