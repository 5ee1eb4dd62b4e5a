"""Multi-request promises, by their text: changes, revisions and deletions."""

import asyncio

from proofs.contract.behaviors import expect, promised
from proofs.contract.samples import SAMPLES, send
from proofs.contract.stage import Stage

GET, PATCH, DELETE = "GET /folders/{folderId}", "PATCH /folders/{folderId}", "DELETE /folders/{folderId}"
# Transcripts, scripts and captions have their revision in the body.
CHANGES = [
    each
    for each in SAMPLES
    if each.startswith("PATCH") and not each.endswith(("/transcript", "/segments", "/optimized"))
]


@promised("an ETag names the revision, and a stale If-Match is refused with the current one")
async def _revisions(stage: Stage) -> None:
    expect(len(CHANGES) == 10, CHANGES)
    for operation in CHANGES:
        read = operation.replace("PATCH", "GET")
        changed = await send(stage, operation, SAMPLES[operation][0])
        found = await stage.call(read)
        expect(changed.headers.get("ETag") == found.headers.get("ETag") is not None, f"{operation}: {found.headers}")
        refused = await send(stage, operation, SAMPLES[operation][0], headers={"If-Match": '"0"'})
        current = int(found.headers["ETag"].strip('"'))
        expect(refused.code == "CONFLICT", refused)
        expect(refused.document["error"]["details"] == {"revision": current}, refused)


@promised("one of two concurrent changes of a revision wins")
async def _race(stage: Stage) -> None:
    for _ in range(10):
        ids = {"folderId": await stage.rows.folder()}
        headers = {"If-Match": (await stage.call(GET, ids=ids)).headers["ETag"]}
        names = ("First", "Second")
        responses = await asyncio.gather(
            *(stage.call(PATCH, {"name": name}, ids=ids, headers=headers) for name in names)
        )
        expect(sorted(each.status for each in responses) == [200, 409], [str(each) for each in responses])
        won = next(each.document["name"] for each in responses if each.status == 200)
        expect((await stage.call(GET, ids=ids)).document["name"] == won, won)


@promised("a deleted folder leaves its videos in the library")
async def _deleted_folder(stage: Stage) -> None:
    folder_id = await stage.rows.folder()
    video = {"videoId": await stage.rows.video(folder_ids=[folder_id])}
    inside = await stage.call("POST /folders", {"name": "Inside", "parentId": folder_id})
    expect((await stage.call(DELETE, ids={"folderId": folder_id})).code == "CONFLICT", "a folder with folders")
    for each in (inside.document["id"], folder_id):
        expect((await stage.call(DELETE, ids={"folderId": each})).status == 204, each)
        expect((await stage.call(GET, ids={"folderId": each})).status == 404, each)
    found = await stage.call("GET /videos/{videoId}", ids=video)
    expect(found.status == 200 and "folderIds" not in found.document, found)


@promised(
    "a deleted video leaves lists and is refunded, comes back from the trash, and is gone when deleted permanently"
)
async def _deleted_video(stage: Stage) -> None:
    ids = {"videoId": await stage.rows.video()}

    async def balance() -> float:
        found: float = (await stage.call("GET /library")).document["credits"]["balance"]
        return found

    before = await balance()
    job = (await stage.call("POST /videos/{videoId}/dubs", {"languages": ["pt"]}, ids=ids)).document["jobs"][0]
    expect(await balance() < before, "the dub was not charged")
    expect((await stage.call("DELETE /videos/{videoId}", ids=ids)).status == 204, ids)
    expect(await balance() == before, "the dub was not refunded")
    ended = (await stage.call("GET /jobs/{jobId}", ids={"jobId": job["id"]})).document
    expect(ended["error"]["code"] == "CANCELLED", ended)
    expect((await stage.call("GET /videos/{videoId}", ids=ids)).code == "NOT_FOUND", ids)
    trashed = {each["id"]: each for each in (await stage.call("GET /trash")).document["videos"]}
    expect(ids["videoId"] in trashed, trashed)
    restored = await stage.call("POST /videos/{videoId}/restore", ids=ids)
    expect(restored.status == 200 and restored.document["id"] == ids["videoId"], restored)
    gone = await stage.call("DELETE /videos/{videoId}", ids=ids, query={"permanently": "true"})
    expect(gone.status == 204, gone)
    expect((await stage.call("POST /videos/{videoId}/restore", ids=ids)).code == "NOT_FOUND", ids)
