"""Multi-request promises, by their text: authentication, methods, library and imports."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from cutroom.platform.ids import new_id
from proofs.contract.samples import fill_placeholders
from proofs.contract.stage import LANGUAGES, Caller, Stage

Behavior = Callable[[Stage], Awaitable[None]]
BEHAVIORS: dict[str, Behavior] = {}
FOLDER = "POST /folders"
UPLOAD = {"source": {"type": "upload"}}


class BrokenPromiseError(Exception):
    """The service behaved differently."""


def promised(text: str) -> Callable[[Behavior], Behavior]:
    def register(behavior: Behavior) -> Behavior:
        BEHAVIORS[text] = behavior
        return behavior

    return register


def expect(holds: bool, found: object) -> None:  # noqa: FBT001 (reads as a text)
    if not holds:
        raise BrokenPromiseError(str(found))


@promised("a key is accepted as Bearer token or X-Api-Key")
async def _headers(stage: Stage) -> None:
    secret = stage.callers["owner"].headers["Authorization"].removeprefix("Bearer ")
    response = await stage.call("GET /videos", caller=Caller({"X-Api-Key": secret}, {}))
    expect(response.status == 200, response)


@promised("xi-api-key and OAuth tokens are accepted by speech operations only")
async def _speech_credentials(stage: Stage) -> None:
    secret = stage.callers["owner"].headers["Authorization"].removeprefix("Bearer ")
    for caller in (Caller({"xi-api-key": secret}, {}), stage.callers["an OAuth token"]):
        voices, videos = await stage.call("GET /voices", caller=caller), await stage.call("GET /videos", caller=caller)
        expect((voices.status, videos.status) == (200, 401), f"{voices.status}, {videos.status}")


@promised("a key created without scopes has all of them")
async def _all_scopes(stage: Stage) -> None:
    for scope, only in stage.only.items():
        expect(bool(only.headers), scope)
    for operation in ("GET /videos", "GET /voices", "GET /webhook-endpoints", "GET /jobs/{jobId}"):
        expect((await stage.call(operation)).status == 200, operation)


@promised("videos are paged newest first without gaps, and the last page has no token")
async def _pages(stage: Stage) -> None:
    videos = (await stage.call("GET /videos", query={"limit": 100})).document["videos"]
    dates = [video["createdAt"] for video in videos]
    ids = [video["id"] for video in videos]
    expect(ids == sorted(ids, reverse=True) and len(dates) == len(ids), ids)
    found: list[str] = []
    query: dict[str, Any] = {"limit": 17}
    while True:
        page = (await stage.call("GET /videos", query=query)).document
        found += [video["id"] for video in page["videos"]]
        if "nextPageToken" not in page:
            break
        query["pageToken"] = page["nextPageToken"]
    expect(found[: len(ids)] == ids and len(set(found)) == len(found), "pages overlap or leave something out")


@promised("a forged page token is rejected")
async def _forged_page(stage: Stage) -> None:
    response = await stage.call("GET /videos", query={"pageToken": "forged"})
    expect(response.code == "INVALID_ARGUMENT" and response.fields == ["pageToken"], response)


@promised("folders nest three levels deep and return their path from the root")
async def _folders(stage: Stage) -> None:
    parent, path = None, []
    for level in range(3):
        name = f"Level {level} {new_id()}"
        body = {"name": name} if parent is None else {"name": name, "parentId": parent}
        made = await stage.call(FOLDER, body)
        path.append(name)
        expect(made.status == 201 and made.document["path"] == path, made)
        expect(made.document["parentId"] == parent, made)
        parent = made.document["id"]
    deeper = await stage.call(FOLDER, {"name": "Too deep", "parentId": parent})
    expect(deeper.code == "INVALID_ARGUMENT" and deeper.fields == ["parentId"], deeper)


@promised("importing a URL queues the video with its import and transcript jobs")
async def _import(stage: Stage) -> None:
    body = fill_placeholders({"source": {"type": "https", "url": "https://media.example.com/$UNIQUE.mp4"}})
    made = (await stage.call("POST /videos", body)).document
    expect(made["status"] == "queued" and "upload" not in made, made)
    jobs = {job["id"]: job["status"] for job in made["jobs"]}
    expected = {f"{kind}_{made['videoId']}": "queued" for kind in ("import", "transcript")}
    expect(jobs == expected, jobs)
    video = (await stage.call("GET /videos/{videoId}", ids={"videoId": made["videoId"]})).document
    expect(video["import"]["status"] == video["transcript"]["status"] == "queued", video)


@promised("an upload returns its session path, and its session can be started")
async def _upload(stage: Stage) -> None:
    made = (await stage.call("POST /videos", UPLOAD)).document
    expect(made["upload"]["sessionPath"] == f"/videos/{made['videoId']}/uploads", made)
    ids = {"videoId": made["videoId"]}
    session = (await stage.call("POST /videos/{videoId}/uploads", {"fileName": "video.mp4"}, ids=ids)).document
    expect(session["storagePath"] == made["upload"]["storagePath"], session)
    expect(session["jobId"] == f"import_{made['videoId']}", session)
    url = session["url"].replace(session["url"].partition("/upload")[0], stage.url, 1)
    started = await stage.client.post(url, headers={"x-goog-resumable": "start", "Content-Type": "video/mp4"})
    expect(started.status_code == 201 and "Location" in started.headers, started.text)


@promised("requested products become jobs that wait for the import")
async def _products(stage: Stage) -> None:
    products = {
        "dubs": [{"languages": ["pt", "de"]}, {"languages": ["pt"], "product": "premium"}],
        "shorts": {"kind": "promo"},
        "packaging": {"title": {"style": "funny"}, "thumbnail": True},
    }
    made = (await stage.call("POST /videos", {**UPLOAD, "products": products})).document
    video_id, ids = made["videoId"], {job["id"] for job in made["jobs"]}
    expected = {f"dub_{video_id}_{dub}" for dub in ("pt_plus", "de_plus", "pt_premium")}
    expected |= {f"packaging_{video_id}_{automation}" for automation in ("generateTitle", "zeroPromptThumbnail")}
    expect(expected <= ids and sum(each.startswith("shorts_") for each in ids) == 1, ids)
    expect({job["status"] for job in made["jobs"]} == {"queued"}, made)


@promised("numClips is rounded, and limited to 1 to 4 for clips")
async def _rounded(stage: Stage) -> None:
    shorts = {"kind": "shorts", "numClips": 2.6}
    made = await stage.call("POST /videos", {**UPLOAD, "products": {"shorts": shorts}})
    expect(made.status == 202, made)
    job_id = next(job["id"] for job in made.document["jobs"] if job["type"] == "shorts")
    plan = await stage.accounts.connection.fetchval("SELECT plan FROM jobs WHERE id = $1", job_id)
    expect(plan["numClips"] == 3, plan)
    for requested, expected in ((9, 4), (0, 1), (2, 2)):
        made = await stage.call("POST /videos/{videoId}/shorts", {"kind": "clips", "numClips": requested})
        ids = {"shortsRequestId": made.document["shortsRequestId"]}
        read = (await stage.call("GET /shorts/{shortsRequestId}", ids=ids)).document
        expect(read["clipsExpected"] == expected, read)


@promised("a duplicate source is rejected with the first video's id, unless that failed")
async def _duplicate_source(stage: Stage) -> None:
    body = fill_placeholders({"source": {"type": "https", "url": "https://media.example.com/$UNIQUE.mp4"}})
    first = (await stage.call("POST /videos", body)).document["videoId"]
    again = await stage.call("POST /videos", body)
    expect(again.code == "ALREADY_EXISTS" and again.document["error"]["details"] == {"videoId": first}, again)


@promised("a webhook secret is returned once, and deleted endpoints are gone")
async def _endpoint(stage: Stage) -> None:
    made = (await stage.call("POST /webhook-endpoints", {"url": f"https://hooks.example.com/{new_id()}"})).document
    expect(made["secret"].startswith("whsec_"), made)
    expect(made["events"] == ["video.ready", "video.failed", "job.ready", "job.failed"], made)
    listed = await stage.call("GET /webhook-endpoints")
    expect(made["id"] in listed.text and made["secret"] not in listed.text, listed)
    operation, ids = "DELETE /webhook-endpoints/{endpointId}", {"endpointId": made["id"]}
    gone, again = [await stage.call(operation, ids=ids) for _ in range(2)]
    expect((gone.status, gone.document, again.status) == (204, None, 404), f"{gone}, then {again}")
    expect(made["id"] not in (await stage.call("GET /webhook-endpoints")).text, "it is still listed")


@promised("the document is OpenAPI 3.1, version 1.0.0")
async def _document(stage: Stage) -> None:
    document = json.loads((await stage.client.get("/v1/openapi.json")).content)
    expect(document["openapi"].startswith("3.1"), document["openapi"])
    expect(document["info"]["version"] == "1.0.0", document["info"])


@promised("rate-limit errors have Retry-After, and insufficient-credit errors do not")
async def _retry_after(stage: Stage) -> None:
    limited = [await stage.call("GET /videos", caller="a rate-limited caller") for _ in range(3)][-1]
    expect(limited.code == "RATE_LIMITED" and int(limited.headers["Retry-After"]) >= 1, limited)
    no_credits = await stage.call("POST /videos/{videoId}/shorts", {"kind": "promo"}, caller="a caller without credits")
    expect(no_credits.code == "INSUFFICIENT_CREDITS" and "Retry-After" not in no_credits.headers, no_credits)
    details = no_credits.document["error"]["details"]
    expect(set(details) == {"required", "available", "shortfall"}, details)
    expect(details["required"] - details["available"] == details["shortfall"] > 0, details)


@promised("an unsupported method is rejected with Allow")
async def _allow(stage: Stage) -> None:
    response = await stage.call("DELETE /folders")
    expect(response.code == "METHOD_NOT_ALLOWED" and response.headers["Allow"] == "GET, HEAD, POST", response)


@promised("HEAD has the headers of GET, and no body")
async def _head(stage: Stage) -> None:
    for path in ("/health", "/videos", "/videos/{videoId}", "/capabilities", "/library", "/voices", "/nothing"):
        get, head = await stage.call(f"GET {path}"), await stage.call(f"HEAD {path}")
        expect((head.status, head.document) == (get.status, None), f"{path}: {head}")
        names = [set(each.headers) for each in (get, head)]
        expect(names[0] == names[1], f"{path}: {names[0] ^ names[1]}")
        lengths = [each.headers["Content-Length"] for each in (get, head)]
        expect(lengths[0] == lengths[1] or "?" in get.text, f"{path}: {lengths}")  # signed URLs vary


@promised("a canceled upload fails its import and what depends on it, once")
async def _canceled_upload(stage: Stage) -> None:
    made = (await stage.call("POST /videos", {**UPLOAD, "products": {"dubs": [{"languages": ["pt"]}]}})).document
    ids = {"videoId": made["videoId"]}
    for _ in range(2):
        canceled = await stage.call("DELETE /videos/{videoId}/uploads", ids=ids)
        expect((canceled.status, canceled.document) == (204, None), canceled)
    jobs = (await stage.call("GET /videos/{videoId}/jobs", ids=ids)).document["jobs"]
    codes = {job["type"]: job["error"]["code"] for job in jobs}
    expect(codes == {"import": "CANCELLED", **dict.fromkeys(("transcript", "dub"), "FAILED_PRECONDITION")}, codes)
    expect((await stage.call("GET /videos/{videoId}", ids=ids)).document["status"] == "failed", "the video waits")
    again = await stage.call("POST /videos/{videoId}/uploads", {"fileName": "video.mp4"}, ids=ids)
    expect(again.code == "CONFLICT", again)


@promised("the listed language pairs are those that can be quoted")
async def _capabilities(stage: Stage) -> None:
    pairs = (await stage.call("GET /capabilities")).document["pairs"]
    listed = {pair["target"]: pair["dubs"] for pair in pairs if pair["source"] == "en"}
    expect(set(listed) == set(LANGUAGES), listed)
    for code in (*listed, "ja", "zh-Hant"):
        captions = await stage.call("POST /videos/{videoId}/quote", {"captionLanguageCodes": [code]})
        expect(captions.status == (200 if code in listed else 400), captions)
        dubs = await stage.call("POST /videos/{videoId}/quote", {"dubs": [{"languages": [code]}]})
        expect(dubs.status == (200 if listed.get(code) else 400), dubs)


@promised("the library counts unfinished jobs and credits in escrow")
async def _library(stage: Stage) -> None:
    before = (await stage.call("GET /library")).document
    made = await stage.call("POST /videos", UPLOAD)
    bundle = {"shorts": {"kind": "shorts", "numClips": 2}}
    reserved = (await stage.call("POST /videos/{videoId}/reservations", bundle)).document
    after = (await stage.call("GET /library")).document
    added = after["usage"]["unfinishedJobs"] - before["usage"]["unfinishedJobs"]
    expect(made.status == 202 and added == 2, f"{added} more unfinished jobs")
    held = round(after["credits"]["inEscrow"] - before["credits"]["inEscrow"], 3)
    spent = round(before["credits"]["balance"] - after["credits"]["balance"], 3)
    expect(held == spent == reserved["total"], f"{held} held, {spent} spent of {reserved['total']}")
