"""Products requested with an import: their jobs, prices and charges."""

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
    return recipe_jobs(parsed, VIDEO, after=f"transcript_{VIDEO}", is_subscriber=is_subscriber, refuses_drafts=False)


def name_of(job: NewJob) -> str:
    """A job's id without its random component."""
    return "shorts" if job.key.type == "shorts" else job.key.id.replace(f"_{VIDEO}", "")


def cost_of(charge: Charge | None) -> int | None:
    """Price in milli-credits for a one-minute video; None if free."""
    if charge is None:
        return None
    items = (
        price(work, prices=PRICES, duration_milliseconds=MINUTE, is_subscriber=charge.is_subscriber)
        for work in charge.items
    )
    return sum(items)


# Recipes, and each expected job with its price.
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
def test_each_product_becomes_a_priced_job(recipes: dict[str, Any], jobs: list[tuple[str, int | None]]) -> None:
    made = jobs_of(recipes)
    assert [(name_of(job), cost_of(job.charge)) for job in made] == jobs
    for job in made:
        assert (job.video_id, list(job.depends_on)) == (VIDEO, [f"transcript_{VIDEO}"])
        assert job.charge is None or not job.charge.is_reserved


def test_no_recipes_create_no_jobs() -> None:
    assert recipe_jobs(None, VIDEO, after="x", is_subscriber=True, refuses_drafts=False) == []


def test_subscribers_get_a_discount_on_shorts_only() -> None:
    recipes = {"shorts": {"numClips": 2}, "dubs": [{"languages": ["de"]}], "packaging": {"thumbnail": True}}
    costs = {name_of(job): cost_of(job.charge) for job in jobs_of(recipes, is_subscriber=True)}
    assert costs == {"dub_de_plus": 2_000, "shorts": 4_000, "packaging_zeroPromptThumbnail": 5_000}


def test_shorts_requests_have_unique_ids() -> None:
    first, second = (jobs_of({"shorts": {}})[0].key.id for _ in range(2))
    assert first != second


# Through the API.

PRODUCTS = {
    "dubs": [{"languages": ["de"]}],
    "shorts": {"numClips": 2},
    "packaging": {"title": {"style": "funny"}, "thumbnail": True},
}


async def create_video(api: httpx.AsyncClient) -> tuple[str, dict[str, str]]:
    """Creates a video with products; returns its id and its jobs by type."""
    response = await api.post("/videos", json={**UPLOAD, "products": PRODUCTS})
    assert response.status_code == 202, response.text
    made = response.json()
    return made["videoId"], {job.get("automationType", job["type"]): job["id"] for job in made["jobs"]}


async def test_recipes_hold_no_credits_when_created(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    library_ledger = LibraryLedger(runtime, accounts.connection, person.library_id)
    await create_video(api)
    await library_ledger.grant(100_000)
    await create_video(api)
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


async def test_each_recipe_is_charged_when_it_starts(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    library_ledger = LibraryLedger(runtime, accounts.connection, person.library_id)
    await library_ledger.grant(10_000)
    video_id, jobs = await create_video(api)
    await accounts.connection.execute("UPDATE videos SET duration_seconds = 150 WHERE id = $1", video_id)
    is_started = {}
    for name in ("dub", "generateTitle", "shorts", "zeroPromptThumbnail"):  # 5, free, 2 each, 5 over the balance
        async with library_ledger.transaction() as connection:
            ref = JobRef(person.library_id, jobs[name], 1)
            plan = await lifecycle.start(connection, ref, prices=PRICES, now=system_clock())
        is_started[name] = plan is not None
    assert is_started == {"dub": True, "generateTitle": True, "shorts": True, "zeroPromptThumbnail": False}
    assert ((await library_ledger.accounts()).wallet, (await library_ledger.accounts()).escrow) == (1_000, 9_000)
    failed = (await api.get(f"/jobs/{jobs['zeroPromptThumbnail']}")).json()
    assert failed["error"]["code"] == "INSUFFICIENT_CREDITS"
    assert failed["error"]["details"] == {"required": 5.0, "available": 1.0, "shortfall": 4.0}
    assert await library_ledger.faults() == []


async def test_failed_import_charges_nothing(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    library_ledger = LibraryLedger(runtime, accounts.connection, person.library_id)
    await library_ledger.grant(10_000)
    _, jobs = await create_video(api)
    async with library_ledger.transaction() as connection:
        failure = lifecycle.Failure("UNSUPPORTED_SOURCE", "It is not a video.")
        ref = JobRef(person.library_id, jobs["import"], 1)
        assert await lifecycle.fail(connection, ref, failure=failure, now=system_clock())
    for job_id in jobs.values():
        assert (await api.get(f"/jobs/{job_id}")).json()["status"] == "failed"
    assert await library_ledger.kinds() == ["grant"]
    assert await library_ledger.faults() == []
