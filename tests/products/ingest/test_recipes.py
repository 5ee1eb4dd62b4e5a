"""Products asked for with an import: which jobs they are, what each will cost, and that it is paid when it begins."""

from typing import Any

import httpx
import pytest

from cutroom.credits.pricing import load_prices, price
from cutroom.credits.rules import Charge
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.ingest.recipes import recipe_jobs
from cutroom.products.ingest.schemas import Recipes
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.credits.conftest import LibraryLedger

PRICES = load_prices()
MINUTE = 60_000
VIDEO = new_id()
UPLOAD = {"source": {"type": "upload", "fileName": "lens.mp4", "contentType": "video/mp4"}}


def jobs_of(recipes: dict[str, Any], *, is_subscriber: bool = False) -> list[NewJob]:
    parsed = Recipes.model_validate(recipes)
    return recipe_jobs(parsed, VIDEO, after=f"transcript_{VIDEO}", is_subscriber=is_subscriber)


def name_of(job: NewJob) -> str:
    """A job's id without what is made up anew each time."""
    return "shorts" if job.key.type == "shorts" else job.key.id.replace(f"_{VIDEO}", "")


def cost_of(charge: Charge | None) -> int | None:
    """In milli-credits, on a video of one minute; nothing for what is free."""
    if charge is None:
        return None
    items = (
        price(work, prices=PRICES, duration_milliseconds=MINUTE, is_subscriber=charge.is_subscriber)
        for work in charge.items
    )
    return sum(items)


# What is asked for, and each job with its price.
CASES: dict[str, tuple[dict[str, Any], list[tuple[str, int | None]]]] = {
    "nothing": ({}, []),
    "nothing of anything": ({"dubs": [], "packaging": {}}, []),
    "a dub": ({"dubs": [{"languages": ["de"]}]}, [("dub_de_plus", 2_000)]),
    "a premium dub": ({"dubs": [{"languages": ["DE"], "product": "premium"}]}, [("dub_de_premium", 4_000)]),
    "dubs, one a language": (
        {"dubs": [{"languages": ["de", "pt-br"]}, {"languages": ["de"], "product": "premium"}]},
        [("dub_de_plus", 2_000), ("dub_pt-BR_plus", 2_000), ("dub_de_premium", 4_000)],
    ),
    "a language twice": (
        {"dubs": [{"languages": ["de", "fr"]}, {"languages": ["fr", "es"]}]},
        [("dub_de_plus", 2_000), ("dub_fr_plus", 2_000), ("dub_es_plus", 2_000)],
    ),
    "shorts": ({"shorts": {}}, [("shorts", 9_000)]),
    "one short": ({"shorts": {"numClips": 1}}, [("shorts", 3_000)]),
    "ten shorts": ({"shorts": {"kind": "shorts", "numClips": 10}}, [("shorts", 30_000)]),
    "a promo": ({"shorts": {"kind": "promo"}}, [("shorts", 10_000)]),
    "a promo is one": ({"shorts": {"kind": "promo", "numClips": 4}}, [("shorts", 10_000)]),
    "a long clip": ({"shorts": {"kind": "clips"}}, [("shorts", 5_000)]),
    "long clips are four at most": ({"shorts": {"kind": "clips", "numClips": 9}}, [("shorts", 20_000)]),
    "words are free": (
        {"packaging": {"title": {"style": "funny"}, "description": {"type": "blog-post"}}},
        [("packaging_generateTitle", None), ("packaging_generateDescription", None)],
    ),
    "a thumbnail": ({"packaging": {"thumbnail": True}}, [("packaging_zeroPromptThumbnail", 5_000)]),
    "a thumbnail of nothing in particular": (
        {"packaging": {"thumbnail": {}}},
        [("packaging_zeroPromptThumbnail", 5_000)],
    ),
    "a thumbnail with characters": (
        {"packaging": {"thumbnail": {"characterCount": 3, "characters": [{"name": name} for name in "abc"]}}},
        [("packaging_zeroPromptThumbnail", 8_000)],
    ),
    "a thumbnail that is off": ({"packaging": {"thumbnail": {"enabled": False, "characterCount": 3}}}, []),
}


@pytest.mark.parametrize(("recipes", "jobs"), CASES.values(), ids=list(CASES))
def test_each_product_is_a_job_with_its_price(recipes: dict[str, Any], jobs: list[tuple[str, int | None]]) -> None:
    made = jobs_of(recipes)
    assert [(name_of(job), cost_of(job.charge)) for job in made] == jobs
    for job in made:
        assert (job.video_id, list(job.depends_on)) == (VIDEO, [f"transcript_{VIDEO}"])
        assert job.charge is None or not job.charge.is_reserved


def test_no_recipes_are_no_jobs() -> None:
    assert recipe_jobs(None, VIDEO, after="x", is_subscriber=True) == []


def test_a_subscriber_pays_less_for_shorts_and_as_much_for_the_rest() -> None:
    recipes = {"shorts": {"numClips": 2}, "dubs": [{"languages": ["de"]}], "packaging": {"thumbnail": True}}
    costs = {name_of(job): cost_of(job.charge) for job in jobs_of(recipes, is_subscriber=True)}
    assert costs == {"dub_de_plus": 2_000, "shorts": 4_000, "packaging_zeroPromptThumbnail": 5_000}


def test_every_request_for_shorts_is_its_own() -> None:
    first, second = (jobs_of({"shorts": {}})[0].key.id for _ in range(2))
    assert first != second


# With an import.

PRODUCTS = {
    "dubs": [{"languages": ["de"]}],
    "shorts": {"numClips": 2},
    "packaging": {"title": {"style": "funny"}, "thumbnail": True},
}


async def bring(api: httpx.AsyncClient) -> tuple[str, dict[str, str]]:
    """Reserve a video with products; its id, and the jobs by type."""
    answer = await api.post("/videos", json={**UPLOAD, "products": PRODUCTS})
    assert answer.status_code == 202, answer.text
    made = answer.json()
    return made["videoId"], {job.get("automationType", job["type"]): job["id"] for job in made["jobs"]}


async def test_recipes_are_accepted_with_an_empty_wallet_and_hold_nothing(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    library_ledger = LibraryLedger(runtime, accounts.connection, person.library_id)
    await bring(api)
    await library_ledger.grant(100_000)
    await bring(api)
    assert await library_ledger.kinds() == ["grant"]
    rows = await accounts.connection.fetch(
        "SELECT DISTINCT type, automation_type, charge IS NULL AS is_free FROM jobs WHERE library_id = $1",
        person.library_id,
    )
    assert {row["automation_type"] or row["type"] for row in rows if row["is_free"]} == {
        "import",
        "transcript",
        "generateTitle",
    }
    assert {row["automation_type"] or row["type"] for row in rows if not row["is_free"]} == {
        "dub",
        "shorts",
        "zeroPromptThumbnail",
    }


async def test_recipes_are_paid_when_they_begin_each_by_itself(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    library_ledger = LibraryLedger(runtime, accounts.connection, person.library_id)
    await library_ledger.grant(10_000)
    video_id, jobs = await bring(api)
    await accounts.connection.execute("UPDATE videos SET duration_seconds = 150 WHERE id = $1", video_id)
    begun = {}
    for name in ("dub", "generateTitle", "shorts", "zeroPromptThumbnail"):  # 5, none, 2 each, 5 that are not left
        async with library_ledger.transaction() as connection:
            ref = JobRef(person.library_id, jobs[name], 1)
            plan = await lifecycle.start(connection, ref, prices=PRICES, now=system_clock())
        begun[name] = plan is not None
    assert begun == {"dub": True, "generateTitle": True, "shorts": True, "zeroPromptThumbnail": False}
    assert ((await library_ledger.accounts()).wallet, (await library_ledger.accounts()).escrow) == (1_000, 9_000)
    failed = (await api.get(f"/jobs/{jobs['zeroPromptThumbnail']}")).json()
    assert failed["error"]["code"] == "INSUFFICIENT_CREDITS"
    assert failed["error"]["details"] == {"required": 5.0, "available": 1.0, "shortfall": 4.0}
    assert await library_ledger.faults() == []


async def test_when_the_import_fails_nobody_has_paid(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    library_ledger = LibraryLedger(runtime, accounts.connection, person.library_id)
    await library_ledger.grant(10_000)
    _, jobs = await bring(api)
    async with library_ledger.transaction() as connection:
        failure = lifecycle.Failure("UNSUPPORTED_SOURCE", "It is not a video.")
        ref = JobRef(person.library_id, jobs["import"], 1)
        assert await lifecycle.fail(connection, ref, failure=failure, now=system_clock())
    for job_id in jobs.values():
        assert (await api.get(f"/jobs/{job_id}")).json()["status"] == "failed"
    assert await library_ledger.kinds() == ["grant"]
    assert await library_ledger.faults() == []
