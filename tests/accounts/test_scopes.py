"""Which scopes a new key gets."""

import pytest

from cutroom.accounts.plans import PlanName, load_plans
from cutroom.accounts.scopes import ALL_SCOPES, SPEECH_SCOPES, Scope, mint_scopes
from cutroom.errors import Code, CutroomError

CONTRACT = {
    "videos:read",
    "videos:write",
    "transcripts:read",
    "dubs:write",
    "shorts:write",
    "thumbnails:write",
    "packaging:write",
    "downloads:write",
    "jobs:read",
    "webhooks:write",
    "tts:read",
    "tts:synthesize",
    "tts:write",
}
PLANS = load_plans()


def test_the_scopes_are_exactly_the_contracts_thirteen() -> None:
    assert {scope.value for scope in Scope} == CONTRACT
    assert len(ALL_SCOPES) == 13
    assert {"tts:read", "tts:synthesize", "tts:write"} == SPEECH_SCOPES


@pytest.mark.parametrize("plan", PlanName)
def test_asking_for_nothing_mints_all_thirteen_on_any_plan(plan: PlanName) -> None:
    assert mint_scopes([], PLANS[plan]) == CONTRACT


@pytest.mark.parametrize("plan", PlanName)
@pytest.mark.parametrize("scope", sorted(ALL_SCOPES - SPEECH_SCOPES))
def test_a_scope_asked_for_by_name_is_the_only_one_minted(scope: Scope, plan: PlanName) -> None:
    assert mint_scopes([scope, scope], PLANS[plan]) == {scope}


@pytest.mark.parametrize("scope", sorted(SPEECH_SCOPES))
@pytest.mark.parametrize("plan", [PlanName.CREATOR, PlanName.PRO, PlanName.BUSINESS])
def test_speech_is_minted_by_name_on_plans_that_have_it(scope: Scope, plan: PlanName) -> None:
    assert mint_scopes([scope, Scope.JOBS_READ], PLANS[plan]) == {scope, Scope.JOBS_READ}


@pytest.mark.parametrize("scope", sorted(SPEECH_SCOPES))
def test_speech_by_name_is_refused_on_the_free_plan(scope: Scope) -> None:
    with pytest.raises(CutroomError) as refused:
        mint_scopes([Scope.VIDEOS_READ, scope], PLANS[PlanName.FREE])
    assert refused.value.code is Code.PERMISSION_DENIED
    assert refused.value.details == {"reason": "plan_required"}


def test_every_scope_by_name_counts_as_asking_for_speech() -> None:
    with pytest.raises(CutroomError):
        mint_scopes(ALL_SCOPES, PLANS[PlanName.FREE])
