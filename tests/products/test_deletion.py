"""Every product that can be deleted by itself: access, refusals, objects, the ledger, and making it again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest
from temporalio.converter import value_to_type
from temporalio.testing import ActivityEnvironment

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.capabilities.rules import AdvertisedTranslator
from cutroom.capabilities.service import publish_routes, publish_voices
from cutroom.credits import ledger
from cutroom.credits.pricing import load_prices
from cutroom.engines.translation.port import Quality, Route
from cutroom.jobs import lifecycle
from cutroom.jobs.deletion import DELETE_WORKFLOW, ObjectDeletion
from cutroom.jobs.deletion_activities import DeletionActivities
from cutroom.jobs.ids import JobType
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.library.rules import poster_path, video_path
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.captions.service import save_captions
from cutroom.products.dubs.artifacts import DubRef
from cutroom.products.dubs.service import open_dub, update_dub
from cutroom.products.shorts.rules import ShortsKind
from cutroom.products.shorts.service import NewShortsOutput, output_path, save_output
from cutroom.products.thumbnails.service import NewThumbnailImage, image_path, store_images
from cutroom.products.transcripts.service import subtitle_paths
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.products.conftest import TranscribedVideo
from tests.products.speech.conftest import FakeSynthesizer

FUNDS = 1_000_000
ROUTES = (Route("en", "pt", Quality.PUBLISHABLE), Route("en", "de", Quality.PUBLISHABLE))
SEGMENT = {"start": 0, "end": 1, "speaker": "speaker_1", "text": "Olá.", "deleted": False, "words": 0}


@dataclass(frozen=True)
class Stage:
    """A video, and what is needed to make and delete its products."""

    api: httpx.AsyncClient
    runtime: Runtime
    video: TranscribedVideo

    @property
    def library_id(self) -> str:
        return self.video.library_id

    @property
    def video_id(self) -> str:
        return self.video.video_id

    async def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        response = await self.api.post(f"/videos/{self.video_id}/{path}", json=body)
        assert response.status_code < 300, response.text
        found: dict[str, Any] = response.json()
        return found

    async def start(self, job_id: str, attempt: int = 1) -> None:
        async with self.runtime.database.transaction(self.library_id) as connection:
            ref, now = JobRef(self.library_id, job_id, attempt), system_clock()
            assert await lifecycle.start(connection, ref, prices=load_prices(None), now=now) is not None

    async def complete(self, job_id: str, attempt: int = 1, **result: Any) -> None:  # noqa: ANN401 (JSON)
        async with self.runtime.database.transaction(self.library_id) as connection:
            ref, now = JobRef(self.library_id, job_id, attempt), system_clock()
            assert await lifecycle.complete(connection, ref, result=result, now=now)

    async def put(self, *paths: str) -> None:
        for path in paths:
            await self.runtime.storage.put(path, b"content")

    async def missing(self, paths: Sequence[str]) -> list[str]:
        return [path for path in paths if await self.runtime.storage.size(path) is None]

    async def delete_objects(self) -> None:
        """Runs what the deletions have enqueued, as the worker would."""
        rows = await self.video.accounts.connection.fetch(
            "DELETE FROM outbox WHERE library_id = $1 AND workflow = $2 RETURNING argument",
            self.library_id,
            DELETE_WORKFLOW,
        )
        activities = DeletionActivities(self.runtime.database, self.runtime.storage)
        for row in rows:
            deletion = value_to_type(ObjectDeletion, row["argument"])
            for _ in range(2):  # a retry has no effect
                await ActivityEnvironment().run(activities.delete_objects, deletion)


@dataclass(frozen=True)
class Made:
    """A finished product: how it is deleted and read, its own objects, and those that have to stay."""

    job_id: str
    url: str
    read: str
    own: tuple[str, ...]
    kept: tuple[str, ...] = ()
    store: Callable[[], Awaitable[None]] | None = None  # makes it once more, for jobs that can be requested again
    details: dict[str, Any] = field(default_factory=dict)  # of the audit entry


async def make_dub(stage: Stage, product: str = "plus") -> Made:
    dub = DubRef(stage.library_id, stage.video_id, "pt", product)
    job_id = f"dub_{stage.video_id}_pt_{product}"
    own = (dub.path("script.json"), dub.path("0123-track.m4a"))
    kept = (dub.line_path("a"), replace(dub, language="de").path("script.json"), replace(dub, product="x").path("a"))

    async def store() -> None:
        await stage.put(*own, *kept)
        async with stage.runtime.database.transaction(stage.library_id) as connection:
            key = (stage.library_id, stage.video_id)
            await open_dub(connection, *key, "pt", product)
            columns = {"completion": "complete", "audio_path": own[1], "segments": [SEGMENT]}
            await update_dub(connection, *key, language="pt", product=product, columns=columns)

    await stage.ask("dubs", {"languages": ["pt"], "product": product})
    url = f"/videos/{stage.video_id}/dubs/PT?product={product}"
    details = {"language": "pt", "products": [product]}
    return Made(job_id, url, url, own, kept, store=store, details=details)


async def make_captions(stage: Stage) -> Made:
    own = subtitle_paths(stage.library_id, stage.video_id, language="pt")
    kept = subtitle_paths(stage.library_id, stage.video_id, language="pt-BR")

    async def store() -> None:
        await stage.put(*own, *kept)
        async with stage.runtime.database.transaction(stage.library_id) as connection:
            await save_captions(
                connection,
                stage.library_id,
                stage.video_id,
                language="pt",
                segments=[SEGMENT],
                quality=Quality.PUBLISHABLE,
                now=system_clock(),
            )

    await stage.ask("captions", {"languages": ["pt"]})
    video = f"/videos/{stage.video_id}"
    return Made(
        f"captions_{stage.video_id}_pt",
        f"{video}/captions/PT",
        f"{video}/subtitles/pt",
        own,
        kept,
        store=store,
        details={"language": "pt"},
    )


async def make_shorts(stage: Stage) -> Made:
    request_id = (await stage.ask("shorts", {"kind": "shorts", "numClips": 2}))["shortsRequestId"]
    own = [output_path(stage.library_id, stage.video_id, request_id, "moments.json")]

    async def store() -> None:
        for number in (0, 1):
            output = shorts_output(stage, request_id, number)
            await stage.put(*paths_of(output))
            async with stage.runtime.database.transaction(stage.library_id) as connection:
                await save_output(connection, stage.library_id, output, now=system_clock())
        await stage.put(*own)

    for number in (0, 1):
        own += paths_of(shorts_output(stage, request_id, number))
    url = f"/shorts/{request_id}"
    return Made(f"shorts_{request_id}", url, url, tuple(own), store=store, details={"outputs": 2})


def shorts_output(stage: Stage, request_id: str, number: int) -> NewShortsOutput:
    names = [f"output-{number}.mp4", f"thumbnail-{number}.jpg", f"edit-{number}.json"]
    paths = [output_path(stage.library_id, stage.video_id, request_id, name) for name in names]
    return NewShortsOutput(
        id=f"{request_id[:-1]}{number}",
        request_id=request_id,
        video_id=stage.video_id,
        number=number,
        kind=ShortsKind.SHORTS,
        title=f"Number {number}",
        description="About a train.",
        reason="It asks a question.",
        duration_seconds=20.5,
        moments=[],
        video_path=paths[0],
        thumbnail_path=paths[1],
        plan_path=paths[2],
    )


def paths_of(output: NewShortsOutput) -> list[str]:
    return [output.video_path, output.thumbnail_path, output.plan_path]


async def make_short(stage: Stage) -> Made:
    made = await make_shorts(stage)
    request_id = made.job_id.partition("_")[2]
    deleted, kept = (paths_of(shorts_output(stage, request_id, number)) for number in (0, 1))
    url = f"{made.url}/outputs/{shorts_output(stage, request_id, 0).id}"
    return replace(made, url=url, own=tuple(deleted), kept=(*kept, made.own[0]), details={"number": 1})


async def make_thumbnails(stage: Stage) -> Made:
    request_id = (await stage.ask("thumbnails", {"prompt": "The lens, close"}))["thumbnailRequestId"]
    images = [thumbnail_image(stage, request_id, number) for number in (1, 10)]
    best = image_path(stage.library_id, stage.video_id, request_id, "best.json")

    async def store() -> None:
        await stage.put(best, *(each.path for each in images))
        async with stage.runtime.database.transaction(stage.library_id) as connection:
            await store_images(connection, stage.library_id, images, now=system_clock())

    url, own = f"/thumbnails/{request_id}", (best, *(each.path for each in images))
    return Made(f"thumbnail_{request_id}", url, url, own, store=store, details={"images": 2})


def thumbnail_image(stage: Stage, request_id: str, number: int) -> NewThumbnailImage:
    return NewThumbnailImage(
        id=f"{request_id[:-2]}{number:02}",
        request_id=request_id,
        video_id=stage.video_id,
        number=number,
        language=None,
        headline=f"Headline {number}",
        layout="left",
        score=0.5,
        engine="none",
        path=image_path(stage.library_id, stage.video_id, request_id, f"thumbnail-{number}.jpg"),
    )


async def make_image(stage: Stage) -> Made:
    made = await make_thumbnails(stage)
    image = thumbnail_image(stage, made.job_id.partition("_")[2], 1)
    kept = tuple(path for path in made.own if path != image.path)
    url = f"{made.url}/images/{image.id}"
    return replace(made, url=url, own=(image.path,), kept=kept, details={"number": 2})


async def make_download(stage: Stage) -> Made:
    request_id = (await stage.ask("downloads", {"artifact": "bundle"}))["downloadRequestId"]
    path = video_path(stage.library_id, stage.video_id, f"downloads/{request_id}/bundle.zip")
    source = video_path(stage.library_id, stage.video_id, "source")

    async def store() -> None:
        await stage.put(path, source)

    url, details = f"/downloads/{request_id}", {"artifact": "bundle", "language": "en"}
    return Made(f"download_{request_id}", url, url, (path,), (source,), store=store, details=details)


MAKERS: dict[str, tuple[Callable[[Stage], Awaitable[Made]], Scope]] = {
    "dub": (make_dub, Scope.DUBS_WRITE),
    "captions": (make_captions, Scope.DUBS_WRITE),
    "shorts": (make_shorts, Scope.SHORTS_WRITE),
    "one short": (make_short, Scope.SHORTS_WRITE),
    "thumbnails": (make_thumbnails, Scope.THUMBNAILS_WRITE),
    "one thumbnail": (make_image, Scope.THUMBNAILS_WRITE),
    "download": (make_download, Scope.DOWNLOADS_WRITE),
}
SINGLE = {"one short", "one thumbnail"}  # the job keeps its other outputs
REPEATABLE = {"dub", "captions"}  # one job per video and language


@pytest.fixture
async def stage(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, transcribed: TranscribedVideo
) -> AsyncIterator[Stage]:
    """The ledger has to be consistent after every test."""
    now = system_clock()
    await accounts.connection.execute("DELETE FROM translation_routes")
    await accounts.connection.execute("DELETE FROM stock_voices")
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, [AdvertisedTranslator("one", ROUTES)], now=now)
        await publish_voices(connection, FakeSynthesizer(), now=now)
    await ledger.grant(accounts.connection, transcribed.library_id, millicredits=FUNDS, reference="tests", now=now)
    yield Stage(api, runtime, transcribed)
    faults = await accounts.connection.fetch("SELECT * FROM check_ledger($1, now())", transcribed.library_id)
    assert [dict(each) for each in faults] == []


async def finish(stage: Stage, made: Made, attempt: int = 1) -> None:
    await stage.start(made.job_id, attempt)
    assert made.store is not None
    await made.store()
    result = {"storagePath": made.own[0], "fileName": "bundle.zip"} if made.job_id.startswith("download") else {}
    await stage.complete(made.job_id, attempt, flagged=["Olá."], **result)


@pytest.fixture(params=MAKERS)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
async def made(stage: Stage, name: str) -> Made:
    """A finished product."""
    made = await MAKERS[name][0](stage)
    await finish(stage, made)
    return made


async def test_deleted_product_is_gone_with_its_objects_only(stage: Stage, made: Made, name: str) -> None:
    assert (await stage.api.get(made.read)).status_code == 200
    assert await stage.missing(made.own + made.kept) == []
    response = await stage.api.delete(made.url)
    assert (response.status_code, response.content) == (204, b"")
    again = await stage.api.delete(made.url)
    assert (again.status_code, again.json()["error"]["code"]) == (404, "NOT_FOUND")
    assert (await stage.api.get(made.read)).status_code == (200 if name in SINGLE else 404)
    assert await stage.missing(made.own) == []  # deleted after the transaction
    await stage.delete_objects()
    assert await stage.missing(made.own) == list(made.own)
    assert await stage.missing(made.kept) == []


async def test_of_two_concurrent_deletions_one_succeeds(stage: Stage, made: Made) -> None:
    responses = await asyncio.gather(*(stage.api.delete(made.url) for _ in range(2)))
    assert sorted(each.status_code for each in responses) == [204, 404]


async def test_job_of_a_deleted_product_keeps_its_receipt_only(stage: Stage, made: Made, name: str) -> None:
    before = (await stage.api.get(f"/jobs/{made.job_id}")).json()
    assert before["result"]["flagged"] == ["Olá."]
    await stage.api.delete(made.url)
    after = (await stage.api.get(f"/jobs/{made.job_id}")).json()
    if name in SINGLE:
        assert after == before
        return
    receipt = before["result"].get("receipt")
    assert after.pop("result", None) == ({"receipt": receipt} if receipt else None)
    assert after.pop("outputDeletedAt")
    assert after == {name: value for name, value in before.items() if name != "result"}
    (listed,) = [
        each
        for each in (await stage.api.get(f"/videos/{stage.video_id}/jobs")).json()["jobs"]
        if each["id"] == made.job_id
    ]
    assert "outputDeletedAt" in listed
    retried = await stage.api.post(f"/jobs/{made.job_id}/retry")
    assert retried.status_code == 409
    assert retried.json()["error"]["details"] == {"jobId": made.job_id, "reason": "deleted"}


async def test_deletion_is_recorded_in_the_audit_log(stage: Stage, made: Made) -> None:
    await stage.api.delete(made.url)
    (entry, *_) = (await stage.api.get("/audit-log")).json()["entries"]
    assert entry["action"].startswith("delete")
    assert entry["before"] == made.details
    assert set(entry["targets"].values()) <= set(made.url.partition("?")[0].split("/"))


@pytest.mark.parametrize("status", ["queued", "processing"])
async def test_unfinished_product_is_not_deleted(stage: Stage, name: str, status: str) -> None:
    made = await MAKERS[name][0](stage)
    if status == "processing":
        await stage.start(made.job_id)
    assert made.store is not None
    await made.store()
    response = await stage.api.delete(made.url)
    assert response.status_code == 409
    error = response.json()["error"]
    assert (error["code"], error["details"]) == ("FAILED_PRECONDITION", {"jobId": made.job_id, "status": status})
    await stage.delete_objects()
    assert await stage.missing(made.own) == []
    assert (await stage.api.post(f"/jobs/{made.job_id}/cancel")).status_code == 200
    canceled = await stage.api.delete(made.url)
    assert canceled.status_code == (404 if name in SINGLE else 204)  # canceling has removed single outputs


async def test_failed_product_is_deleted(stage: Stage, name: str) -> None:
    made = await MAKERS[name][0](stage)
    await stage.start(made.job_id)
    assert made.store is not None
    await made.store()
    async with stage.runtime.database.transaction(stage.library_id) as connection:
        ref = JobRef(stage.library_id, made.job_id, 1)
        await lifecycle.fail(connection, ref, failure=Failure("INTERNAL", "It broke."), now=system_clock())
    assert (await stage.api.delete(made.url)).status_code == 204
    await stage.delete_objects()
    assert await stage.missing(made.own) == list(made.own)
    if name in REPEATABLE:
        retried = await stage.api.post(f"/jobs/{made.job_id}/retry")
        assert retried.json()["error"]["details"]["reason"] == "deleted"


async def test_deletion_needs_the_scope_of_creation(
    stage: Stage, made: Made, name: str, accounts: Accounts, person: Person
) -> None:
    scope = MAKERS[name][1]
    lacking = await accounts.key(person, scopes=ALL_SCOPES - {scope})
    refused = await stage.api.delete(made.url, headers=lacking.headers)
    assert refused.status_code == 403
    assert refused.json()["error"]["details"] == {"required": [scope.value]}
    only = await accounts.key(person, scopes={scope})
    assert (await stage.api.delete(made.url, headers=only.headers)).status_code == 204


async def test_products_of_other_libraries_are_not_found(
    stage: Stage, made: Made, accounts: Accounts, person: Person
) -> None:
    foreign = await accounts.key(await accounts.person())
    assert (await stage.api.delete(made.url, headers=foreign.headers)).status_code == 404
    assert (await stage.api.get(made.read)).status_code == 200
    viewer = await accounts.person()
    workspace = await accounts.workspace(person)
    await accounts.member(workspace, viewer, role=Role.VIEWER)
    reading = await accounts.key(viewer, library_id=workspace)
    assert (await stage.api.delete(made.url, headers=reading.headers)).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/videos/{id}/dubs/pt",
        "/videos/{video}/dubs/pt",
        "/videos/{video}/dubs/nonsense_",
        "/videos/{id}/captions/pt",
        "/videos/{video}/captions/en",
        "/videos/{video}/captions/nonsense_",
        "/shorts/{id}",
        "/shorts/nonsense",
        "/shorts/{id}/outputs/{id}",
        "/thumbnails/{id}",
        "/thumbnails/nonsense",
        "/thumbnails/{id}/images/{id}",
        "/downloads/{id}",
        "/downloads/nonsense",
    ],
)
async def test_unknown_products_are_not_found(stage: Stage, path: str) -> None:
    response = await stage.api.delete(path.format(id=new_id(), video=stage.video_id))
    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("name", sorted(REPEATABLE), indirect=True)
async def test_deleted_product_is_made_and_charged_again(stage: Stage, made: Made, name: str) -> None:
    """The objects of the second run stay, also if those of the first are deleted only afterwards."""
    price = (await balance(stage))[1]
    assert price > 0
    assert (await stage.api.delete(made.url)).status_code == 204
    assert await balance(stage) == (FUNDS - price, price)  # nothing is returned
    job = (await stage.ask(name if name == "captions" else "dubs", {"languages": ["pt"]}))["jobs"][0]
    assert (job["id"], job["status"]) == (made.job_id, "queued")
    assert "outputDeletedAt" not in job
    await finish(stage, made, attempt=2)
    assert await balance(stage) == (FUNDS - 2 * price, 2 * price)
    await stage.delete_objects()
    assert await stage.missing(made.own) == []
    assert (await stage.api.get(made.read)).status_code == 200
    assert (await stage.api.delete(made.url)).status_code == 204
    await stage.delete_objects()
    assert await stage.missing(made.own) == list(made.own)


async def balance(stage: Stage) -> tuple[int, int]:
    """Wallet and revenue in millicredits."""
    row = await stage.video.accounts.connection.fetchrow(
        "SELECT wallet, escrow, revenue FROM ledger_balances WHERE library_id = $1", stage.library_id
    )
    assert row is not None
    assert row["escrow"] == 0
    return row["wallet"], row["revenue"]


async def test_all_dubs_of_a_language_are_deleted_unless_one_is_named(stage: Stage) -> None:
    dubs = [await make_dub(stage, product) for product in ("plus", "premium")]
    for each in dubs:
        await finish(stage, each)
    plus, premium = dubs
    assert (await stage.api.delete(plus.url)).status_code == 204
    listed = (await stage.api.get(f"/videos/{stage.video_id}/dubs")).json()["dubs"]
    assert [each["product"] for each in listed] == ["premium"]
    await stage.delete_objects()
    assert await stage.missing(premium.own) == []
    await finish(stage, await make_dub(stage, "plus"), attempt=2)
    assert (await stage.api.delete(f"/videos/{stage.video_id}/dubs/pt")).status_code == 204
    assert (await stage.api.get(f"/videos/{stage.video_id}/dubs")).json()["dubs"] == []
    assert (await stage.api.delete(f"/videos/{stage.video_id}/dubs/pt?product=x")).status_code == 400


async def test_language_is_not_deleted_in_part(stage: Stage) -> None:
    plus, premium = [await make_dub(stage, product) for product in ("plus", "premium")]
    await finish(stage, plus)
    response = await stage.api.delete(f"/videos/{stage.video_id}/dubs/pt")
    assert response.json()["error"]["details"] == {"jobId": premium.job_id, "status": "queued"}
    assert (await stage.api.get(plus.read)).json()["status"] == "ready"


async def test_dub_with_a_line_in_the_making_is_not_deleted(stage: Stage, accounts: Accounts) -> None:
    made = await make_dub(stage)
    await finish(stage, made)
    now, redub_id = system_clock(), f"redub_{new_id()}"
    row = {
        "library_id": stage.library_id,
        "id": redub_id,
        "type": "redub",
        "status": "processing",
        "attempt": 1,
        "plan": {"dubbed_video_id": stage.video_id, "language": "pt", "product": "plus"},
        "depends_on": [],
        "progress": 0,
        "created_at": now,
        "updated_at": now,
    }
    await insert(accounts.connection, "jobs", row)
    refused = await stage.api.delete(made.url)
    assert refused.status_code == 409
    assert refused.json()["error"]["details"] == {"jobId": made.job_id, "status": "processing"}
    assert (await stage.api.get(made.read)).json()["audioUrl"] is not None
    await stage.complete(redub_id)
    assert (await stage.api.delete(made.url)).status_code == 204


async def test_deleted_dub_cannot_be_downloaded(stage: Stage) -> None:
    made = await make_dub(stage)
    await finish(stage, made)
    body = {"artifact": "language_video", "language": "pt"}
    path = f"/videos/{stage.video_id}/downloads"
    assert (await stage.api.post(path, json=body)).status_code == 202
    await stage.api.delete(made.url)
    assert (await stage.api.post(path, json=body)).status_code == 404


@pytest.mark.parametrize("name", ["thumbnails", "one thumbnail"], indirect=True)
async def test_poster_of_the_import_comes_back(stage: Stage, made: Made, accounts: Accounts) -> None:
    poster = next(path for path in made.own if path.endswith("thumbnail-1.jpg"))
    set_poster = "UPDATE videos SET poster_path = $2, media_type = 'video' WHERE id = $1"
    await accounts.connection.execute(set_poster, stage.video_id, poster)
    assert (await stage.api.delete(made.url)).status_code == 204
    shown = await accounts.connection.fetchval("SELECT poster_path FROM videos WHERE id = $1", stage.video_id)
    assert shown == poster_path(stage.library_id, stage.video_id)


async def test_other_poster_stays(stage: Stage, accounts: Accounts) -> None:
    """`thumbnail-10.jpg` is not `thumbnail-1.jpg`."""
    made = await make_image(stage)
    await finish(stage, made)
    other = next(path for path in made.kept if path.endswith("thumbnail-10.jpg"))
    await accounts.connection.execute("UPDATE videos SET poster_path = $2 WHERE id = $1", stage.video_id, other)
    await stage.api.delete(made.url)
    shown = await accounts.connection.fetchval("SELECT poster_path FROM videos WHERE id = $1", stage.video_id)
    assert shown == other


async def test_images_have_ids(stage: Stage) -> None:
    made = await make_thumbnails(stage)
    await finish(stage, made)
    request = (await stage.api.get(made.url)).json()
    assert [each["thumbnailId"][-2:] for each in request["outputImages"]] == ["01", "10"]
    assert [each["url"] for each in request["outputImages"]] == request["outputImageUrls"]


async def test_thumbnail_of_the_packaging_is_deleted_and_made_again(stage: Stage) -> None:
    body = {"zeroPromptThumbnail": {"enabled": True}}
    (job,) = (await stage.ask("packaging", body))["jobs"]
    state = (await stage.api.get(f"/videos/{stage.video_id}/packaging")).json()
    request_id = state["thumbnail"]["thumbnailRequestId"]
    await stage.start(job["id"])
    await stage.complete(job["id"])
    assert (await stage.api.delete(f"/thumbnails/{request_id}")).status_code == 204
    state = (await stage.api.get(f"/videos/{stage.video_id}/packaging")).json()
    assert (state["automations"], state.get("thumbnail")) == ([], None)
    (again,) = (await stage.ask("packaging", body))["jobs"]
    assert (again["id"], again["status"]) == (job["id"], "queued")
    state = (await stage.api.get(f"/videos/{stage.video_id}/packaging")).json()
    assert state["thumbnail"]["thumbnailRequestId"] != request_id


def test_every_product_but_transcripts_and_texts_can_be_deleted() -> None:
    """Imports are deleted with their video; texts of packaging jobs are changed with PATCH."""
    deletable = {each.partition(" ")[0] for each in MAKERS if each not in SINGLE}
    kept = {JobType.IMPORT, JobType.TRANSCRIPT, JobType.PACKAGING}
    assert {each.removesuffix("s") for each in deletable} == {each.removesuffix("s") for each in set(JobType) - kept}


async def test_stream_is_packaged_again_without_a_deleted_track(stage: Stage, made: Made, name: str) -> None:
    find = "SELECT workflow_id FROM outbox WHERE library_id = $1 AND workflow = 'playback'"
    connection = stage.video.accounts.connection
    before = {row["workflow_id"] for row in await connection.fetch(find, stage.library_id)}
    await stage.api.delete(made.url)
    after = {row["workflow_id"] for row in await connection.fetch(find, stage.library_id)}
    expected = {f"playback_{made.job_id}_deleted"} if name in REPEATABLE else set()
    assert after - before == expected
