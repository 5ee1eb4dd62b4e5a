"""A library's pages cost the same however deep they lie and however many other libraries there are."""

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
from dev.scratch import Accounts, Keyring, environment_of, scratch
from dev.server import Server
from proofs.library_scale.data import Loaded, ids_newest_first, load
from proofs.library_scale.query_plans import PLAN_MODES, Query, explain
from proofs.stage.report import Report, prove

GOAL_RATIO = 2.0
WARM_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Form:
    """How much the proof takes on."""

    videos: int
    libraries: int
    deep_page: int
    rounds: int


LONG = Form(videos=1_000_000, libraries=1_000, deep_page=5_000, rounds=500)
SHORT = Form(videos=100_000, libraries=100, deep_page=900, rounds=120)


@dataclass(frozen=True, slots=True)
class Shelf:
    """A library as its owner holds it: the key, and every id in the order in which the API must list them."""

    library_id: str
    key: Keyring
    ids: Sequence[str]

    def page(self, number: int) -> list[str]:
        """The ids on a page; the first is number 1."""
        return list(self.ids[(number - 1) * DEFAULT_PAGE : number * DEFAULT_PAGE])

    def path(self, number: int, tokens: PageTokens) -> str:
        if number == 1:
            return "/v1/videos"
        last_id = self.ids[(number - 1) * DEFAULT_PAGE - 1]
        return f"/v1/videos?pageToken={tokens.after(last_id, listing='videos', library_id=self.library_id)}"


class Client:
    """One keep-alive connection, as thin as can be, so that what it measures is the server."""

    def __init__(self, server: Server) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def get(self, path: str, shelf: Shelf) -> tuple[float, Any]:
        """Milliseconds until the whole answer was here, and what it said."""
        started = time.perf_counter()
        self._connection.request("GET", path, headers=shelf.key.headers)
        response = self._connection.getresponse()
        body = response.read()
        milliseconds = (time.perf_counter() - started) * 1000
        if response.status != 200:
            raise RuntimeError(f"GET {path} was answered {response.status} {body.decode()}")
        return milliseconds, json.loads(body)


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    form = SHORT if short else LONG
    settings = await scratch("proof_library_scale")
    accounts, server = await Accounts.open(settings), Server(environment_of(settings))
    try:
        loaded = await load(accounts, videos=form.videos, libraries=form.libraries)
        big, small = await _shelf(accounts, loaded, big=True), await _shelf(accounts, loaded, big=False)
        held = f"{loaded.videos} in {loaded.libraries} libraries, {len(big.ids)} in the big one"
        report.note(f"videos: {held}, loaded in {loaded.seconds:.1f} s")
        report.figures(videos=loaded.videos, libraries=loaded.libraries, load_seconds=round(loaded.seconds, 1))
        await _prove_plans(report, settings, form, shelves=(big, small))
        server.start()
        tokens = PageTokens(SecretBox(settings.secret_key.get_secret_value()))
        await asyncio.to_thread(_prove_walk, report, Client(server), small)
        await asyncio.to_thread(_prove_depth, report, Client(server), form, tokens=tokens, shelves=(big, small))
    finally:
        server.stop()
        await accounts.connection.execute("TRUNCATE videos")  # some 350 MB
        await accounts.close()


async def _shelf(accounts: Accounts, loaded: Loaded, *, big: bool) -> Shelf:
    person = loaded.big if big else loaded.small
    ids = await ids_newest_first(accounts.connection, person.library_id)
    return Shelf(library_id=person.library_id, key=await accounts.key(person), ids=ids)


async def _prove_plans(report: Report, settings: Settings, form: Form, *, shelves: tuple[Shelf, Shelf]) -> None:
    """The plans of the very statements that the service sends, as the role that sends them."""
    big, small = shelves
    rows = DEFAULT_PAGE + 1  # one more than is shown, to know whether there are more
    deep_id, last_id = big.ids[(form.deep_page - 1) * DEFAULT_PAGE - 1], small.ids[-1]
    queries = (
        Query("page 1", LIST_VIDEOS, big.library_id, (NEWEST, rows), rows),
        Query(f"page {form.deep_page}", LIST_VIDEOS, big.library_id, (deep_id, rows), rows),
        Query("get by id", GET_VIDEO, big.library_id, (deep_id,), 1),
        Query("a small library's page 1", LIST_VIDEOS, small.library_id, (NEWEST, rows), rows),
        Query("a small library's get by id", GET_VIDEO, small.library_id, (last_id,), 1),
        Query("get by an id of another library", GET_VIDEO, small.library_id, (deep_id,), 0),
    )
    database = await Database.connect(settings.database_url.get_secret_value(), 1, application="cutroom-proof")
    try:
        for query in queries:
            plans = [await explain(database, query, mode) for mode in PLAN_MODES]
            faults = "; ".join({plan.fault for plan in plans if plan.fault})
            report.claim(
                f"{query.name} is found by its index",
                wanted=f"<= {query.max_pages} pages of memory",
                measured=faults or f"{max(plan.pages for plan in plans)} pages",
                holds=not faults,
            )
    finally:
        await database.close()


def _prove_walk(report: Report, client: Client, shelf: Shelf) -> None:
    """Follow nextPageToken from the first page to the last: every video once, newest first."""
    seen: list[str] = []
    path, pages = "/v1/videos", 0
    while path and len(seen) <= len(shelf.ids):
        _, page = client.get(path, shelf)
        seen.extend(video["id"] for video in page["videos"])
        token, pages = page.get("nextPageToken"), pages + 1
        path = f"/v1/videos?pageToken={token}" if token else ""
    report.claim(
        "walking a library shows every video once, newest first",
        wanted=f"{len(shelf.ids)} videos",
        measured=f"{len(set(seen))} on {pages} pages",
        holds=seen == shelf.ids and pages == -(-len(shelf.ids) // DEFAULT_PAGE),
    )


def _prove_depth(
    report: Report, client: Client, form: Form, *, tokens: PageTokens, shelves: tuple[Shelf, Shelf]
) -> None:
    """Ask for page 1, a deep page, and single videos in turn; each deep page only once, as a walker would."""
    big, small = shelves
    times: dict[str, list[float]] = {"page1": [], "deep": [], "get": [], "get_small": []}
    wrong = 0
    for number in range(-WARM_ROUNDS, form.rounds):
        deep = form.deep_page + number
        deep_id, small_id = big.page(deep)[0], small.ids[number % len(small.ids)]
        answers = {
            "page1": client.get(big.path(1, tokens), big),
            "deep": client.get(big.path(deep, tokens), big),
            "get": client.get(f"/v1/videos/{deep_id}", big),
            "get_small": client.get(f"/v1/videos/{small_id}", small),
        }
        wrong += [video["id"] for video in answers["page1"][1]["videos"]] != big.page(1)
        wrong += [video["id"] for video in answers["deep"][1]["videos"]] != big.page(deep)
        wrong += answers["get"][1]["id"] != deep_id or answers["get_small"][1]["id"] != small_id
        for name, (milliseconds, _) in answers.items():
            if number >= 0:
                times[name].append(milliseconds)
    page1, deep_page, get, get_small = (round(statistics.median(each), 2) for each in times.values())
    report.claim("the pages and videos that were asked for", wanted="0 wrong", measured=wrong, holds=not wrong)
    _claim_ratio(report, f"page {form.deep_page} against page 1", deep_page, page1)
    _claim_ratio(report, "get by id, big library against small", get, get_small)
    report.figures(page1_ms=page1, deep_page_ms=deep_page, get_ms=get, get_small_ms=get_small)


def _claim_ratio(report: Report, claim: str, slow: float, fast: float) -> None:
    report.claim(
        claim,
        wanted=f"<= {GOAL_RATIO} times",
        measured=f"{slow} ms against {fast} ms, {slow / fast:.2f} times",
        holds=slow <= GOAL_RATIO * fast,
    )


if __name__ == "__main__":
    sys.exit(prove("A large library", proof))
