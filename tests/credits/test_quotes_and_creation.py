"""A quote succeeds exactly when creation with the same content would, at the same price."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cutroom.accounts.plans import PlanName
from cutroom.engines.translation.port import Quality
from cutroom.entrypoints.api import BUNDLE_CHECKS
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.credits.conftest import AddVideo, LibraryLedger
from tests.support.priced_bodies import BodyGenerator, QuoteComparison
from tests.support.transcribed_videos import advertise_languages

DURATIONS = (None, 9.0, 14.9, 15.0, 32.0, 44.9, 45.0, 299.9, 300.0, 4000.0)
WALLETS = (1, 3_000, 10**9)
OVERDRAFTS = (0, 0, 2_000)
DRAFT = "it"  # a language that can only be translated into as a draft
Videos = dict[tuple[float | None, str], str]


@pytest.fixture
async def comparisons(
    runtime: Runtime, accounts: Accounts, add_video: AddVideo
) -> list[tuple[QuoteComparison, Videos]]:
    """Libraries with few and many credits, with usage billing, and one that refuses drafts.

    Each has videos of several lengths and states.
    """
    found = []
    await advertise_languages(accounts.connection, [DRAFT], quality=Quality.DRAFT)
    with_checks = replace(runtime, bundle_checks=BUNDLE_CHECKS)
    for millicredits, overdraft in zip(WALLETS, OVERDRAFTS, strict=True):
        person = await accounts.person(PlanName.BUSINESS if overdraft else PlanName.FREE)
        library_ledger = LibraryLedger(runtime, accounts.connection, person.library_id)
        await library_ledger.grant(millicredits)
        await library_ledger.set_overdraft(overdraft)
        key = await accounts.key(person)
        async with runtime.database.connection() as connection:
            principal = await runtime.authenticator.authenticate(
                connection, key.secret, now=system_clock(), speech=False
            )
        videos: Videos = {}
        for seconds in DURATIONS:
            for transcript in ("ready", "processing", "failed"):
                videos[seconds, transcript] = await add_video(seconds, person.library_id, transcript=transcript)
        principal = replace(principal, refuses_drafts=millicredits == max(WALLETS))
        found.append((QuoteComparison(with_checks, principal, system_clock()), videos))
    return found


@settings(
    max_examples=100,
    deadline=None,  # slow machines must not fail the test
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],  # nothing is kept of an example
)
@given(
    rng=st.randoms(use_true_random=False),
    library=st.integers(0, len(WALLETS) - 1),
    seconds=st.sampled_from(DURATIONS),
    transcript=st.sampled_from(["ready", "ready", "ready", "processing", "failed"]),
)
async def test_quote_succeeds_exactly_when_creation_does(
    comparisons: list[Any], rng: random.Random, library: int, seconds: float | None, transcript: str
) -> None:
    comparison, videos = comparisons[library]
    priced = BodyGenerator(rng, languages=["de", "es", "pt-BR", DRAFT]).body()
    is_waiting = seconds is None or transcript == "processing"
    assert await comparison.compare(videos[seconds, transcript], priced, is_waiting=is_waiting) is None
