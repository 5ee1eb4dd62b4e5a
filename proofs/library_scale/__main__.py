"""Pages of a library and the hottest queries cost the same at any depth and size, through PgBouncer."""

import asyncio
import http.client
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.library.service import GET_VIDEO, LIST_VIDEOS, NEWEST
from cutroom.platform.db import Database
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.web.paging import DEFAULT_PAGE, PageTokens
from dev.pgbouncer import pgbouncer
from dev.scratch import Accounts, Keyring, drop_scratch, environment_of, scratch
from dev.server import Server
from proofs.library_scale.data import LoadedData, ids_newest_first, load
from proofs.library_scale.query_plans import PLAN_MODES, Query, explain
from proofs.library_scale.rows import JOBS_PER_VIDEO
from proofs.library_scale.slowdown import prove_slowdown
from proofs.stage.report import Report, prove

GOAL_RATIO = 2.0
WARM_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Scale:
    """Amount of data and number of measurements."""

    videos: int
    libraries: int
    deep_page: int
    rounds: int
    jobs_per_video: int
    query_rounds: int


LONG_SCALE = Scale(
    videos=1_000_000, libraries=1_000, deep_page=5_000, rounds=500, jobs_per_video=JOBS_PER_VIDEO, query_rounds=80
)
SHORT_SCALE = Scale(videos=100_000, libraries=100, deep_page=900, rounds=120, jobs_per_video=2, query_rounds=15)
DATABASE = "proof_library_scale"


@dataclass(frozen=True, slots=True)
class LibraryPages:
    """A library's key and all its video ids in listing order."""

    library_id: str
    key: Keyring
    ids: Sequence[str]

    def page(self, number: int) -> list[str]:
        """The ids on a page, counted from 1."""
        return list(self.ids[(number - 1) * DEFAULT_PAGE : number * DEFAULT_PAGE])

    def path(self, number: int, tokens: PageTokens) -> str:
        if number == 1:
            return "/v1/videos"
        last_id = self.ids[(number - 1) * DEFAULT_PAGE - 1]
        return f"/v1/videos?pageToken={tokens.after(last_id, listing='videos', library_id=self.library_id)}"


class TimedClient:
    """A minimal keep-alive client, so that it measures mainly the server."""

    def __init__(self, server: Server) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def get(self, path: str, library: LibraryPages) -> tuple[float, Any]:
        """Milliseconds until the complete response, and its document."""
        started = time.perf_counter()
        self._connection.request("GET", path, headers=library.key.headers)
        response = self._connection.getresponse()
        body = response.read()
        milliseconds = (time.perf_counter() - started) * 1000
        if response.status != 200:
            raise RuntimeError(f"GET {path} returned {response.status} {body.decode()}")
        return milliseconds, json.loads(body)


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    scale = SHORT_SCALE if short else LONG_SCALE
    settings = await scratch(DATABASE)
    try:
        accounts = await Accounts.open(settings)
        try:
            with pgbouncer(settings) as pooled:
                loaded = await load(accounts, videos=scale.videos, libraries=scale.libraries)
                await _prove_library(report, pooled, scale, accounts=accounts, loaded=loaded)
                await prove_slowdown(
                    report, accounts, pooled, jobs_per_video=scale.jobs_per_video, rounds=scale.query_rounds
                )
        finally:
            await accounts.close()
    finally:
        await drop_scratch(DATABASE)  # about 10 GB


async def _prove_library(
    report: Report, settings: Settings, scale: Scale, *, accounts: Accounts, loaded: LoadedData
) -> None:
    server = Server(environment_of(settings))
    try:
        big, small = await _library_pages(accounts, loaded, big=True), await _library_pages(accounts, loaded, big=False)
        held = f"{loaded.videos} in {loaded.libraries} libraries, {len(big.ids)} in the big one"
        report.note(f"videos: {held}, loaded in {loaded.seconds:.1f} s")
        report.figures(videos=loaded.videos, libraries=loaded.libraries, load_seconds=round(loaded.seconds, 1))
        await _prove_plans(report, settings, scale, libraries=(big, small))
        server.start()
        tokens = PageTokens(SecretBox(settings.secret_key.get_secret_value()))
        await asyncio.to_thread(_prove_paging, report, TimedClient(server), small)
        await asyncio.to_thread(
            _prove_deep_pages, report, TimedClient(server), scale, tokens=tokens, libraries=(big, small)
        )
    finally:
        server.stop()


async def _library_pages(accounts: Accounts, loaded: LoadedData, *, big: bool) -> LibraryPages:
    person = loaded.big if big else loaded.small
    ids = await ids_newest_first(accounts.connection, person.library_id)
    return LibraryPages(library_id=person.library_id, key=await accounts.key(person), ids=ids)


async def _prove_plans(
    report: Report, settings: Settings, scale: Scale, *, libraries: tuple[LibraryPages, LibraryPages]
) -> None:
    """Explain the service's own statements, as the application's role."""
    big, small = libraries
    rows = DEFAULT_PAGE + 1  # one more than returned, to detect further pages
    deep_id, last_id = big.ids[(scale.deep_page - 1) * DEFAULT_PAGE - 1], small.ids[-1]
    queries = (
        Query("page 1", LIST_VIDEOS, big.library_id, (NEWEST, rows), rows),
        Query(f"page {scale.deep_page}", LIST_VIDEOS, big.library_id, (deep_id, rows), rows),
        Query("get by id", GET_VIDEO, big.library_id, (deep_id,), 1),
        Query("a small library's page 1", LIST_VIDEOS, small.library_id, (NEWEST, rows), rows),
        Query("a small library's get by id", GET_VIDEO, small.library_id, (last_id,), 1),
        Query("get by an id of another library", GET_VIDEO, small.library_id, (deep_id,), 0),
    )
    database = await Database.connect(
        settings.database_url.get_secret_value(), 1, application="cutroom-proof", pooler=settings.database_pooler
    )
    try:
        for query in queries:
            plans = [await explain(database, query, mode) for mode in PLAN_MODES]
            faults = "; ".join({plan.fault for plan in plans if plan.fault})
            report.claim(
                f"{query.name} uses its index",
                expected=f"<= {query.max_pages} buffer pages",
                measured=faults or f"{max(plan.pages for plan in plans)} pages",
                holds=not faults,
            )
    finally:
        await database.close()


def _prove_paging(report: Report, client: TimedClient, library: LibraryPages) -> None:
    """Follow nextPageToken through the whole library: every video once, newest first."""
    seen: list[str] = []
    path, pages = "/v1/videos", 0
    while path and len(seen) <= len(library.ids):
        _, page = client.get(path, library)
        seen.extend(video["id"] for video in page["videos"])
        token, pages = page.get("nextPageToken"), pages + 1
        path = f"/v1/videos?pageToken={token}" if token else ""
    report.claim(
        "paging through a library returns every video once, newest first",
        expected=f"{len(library.ids)} videos",
        measured=f"{len(set(seen))} on {pages} pages",
        holds=seen == library.ids and pages == -(-len(library.ids) // DEFAULT_PAGE),
    )


def _prove_deep_pages(
    report: Report,
    client: TimedClient,
    scale: Scale,
    *,
    tokens: PageTokens,
    libraries: tuple[LibraryPages, LibraryPages],
) -> None:
    """Request page 1, a deep page and single videos in turn; each deep page only once, as when paging."""
    big, small = libraries
    times: dict[str, list[float]] = {
        name: [] for name in ("page1", "deep", "get", "get_small", "summary", "summary_small")
    }
    wrong = 0
    for number in range(-WARM_ROUNDS, scale.rounds):
        deep = scale.deep_page + number
        deep_id, small_id = big.page(deep)[0], small.ids[number % len(small.ids)]
        responses = {
            "page1": client.get(big.path(1, tokens), big),
            "deep": client.get(big.path(deep, tokens), big),
            "get": client.get(f"/v1/videos/{deep_id}", big),
            "get_small": client.get(f"/v1/videos/{small_id}", small),
            "summary": client.get("/v1/library", big),
            "summary_small": client.get("/v1/library", small),
        }
        wrong += [video["id"] for video in responses["page1"][1]["videos"]] != big.page(1)
        wrong += [video["id"] for video in responses["deep"][1]["videos"]] != big.page(deep)
        wrong += responses["get"][1]["id"] != deep_id or responses["get_small"][1]["id"] != small_id
        for name, (milliseconds, _) in responses.items():
            if number >= 0:
                times[name].append(milliseconds)
    medians = {name: round(statistics.median(each), 2) for name, each in times.items()}
    page1, deep_page, get, get_small = (medians[name] for name in ("page1", "deep", "get", "get_small"))
    report.claim("wrong pages or videos", expected="0", measured=wrong, holds=not wrong)
    _claim_ratio(report, f"page {scale.deep_page} relative to page 1", deep_page, page1)
    _claim_ratio(report, "get by id, big library relative to small", get, get_small)
    summary, summary_small = medians["summary"], medians["summary_small"]
    _claim_ratio(report, "summary of the library, big relative to small", summary, summary_small)
    report.figures(
        page1_ms=page1,
        deep_page_ms=deep_page,
        get_ms=get,
        get_small_ms=get_small,
        summary_ms=summary,
        summary_small_ms=summary_small,
    )


def _claim_ratio(report: Report, claim: str, slow: float, fast: float) -> None:
    report.claim_time(
        claim,
        expected=f"<= {GOAL_RATIO} times",
        measured=f"{slow} ms to {fast} ms, {slow / fast:.2f} times",
        holds=slow <= GOAL_RATIO * fast,
    )


if __name__ == "__main__":
    sys.exit(prove("Library at scale", proof))
