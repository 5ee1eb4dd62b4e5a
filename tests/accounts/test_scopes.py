"""Scopes granted to new keys."""

import pytest

from cutroom.accounts.plans import PlanName, load_plans
from cutroom.accounts.scopes import ALL_SCOPES, SPEECH_SCOPES, Scope, grant_scopes
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


def test_scopes_match_contract() -> None:
    assert {scope.value for scope in Scope} == CONTRACT
    assert len(ALL_SCOPES) == 13
    assert {"tts:read", "tts:synthesize", "tts:write"} == SPEECH_SCOPES


@pytest.mark.parametrize("plan", PlanName)
def test_no_requested_scopes_grants_all(plan: PlanName) -> None:
    assert grant_scopes([], PLANS[plan]) == CONTRACT


@pytest.mark.parametrize("plan", PlanName)
@pytest.mark.parametrize("scope", sorted(ALL_SCOPES - SPEECH_SCOPES))
def test_only_requested_scopes_are_granted(scope: Scope, plan: PlanName) -> None:
    assert grant_scopes([scope, scope], PLANS[plan]) == {scope}


@pytest.mark.parametrize("scope", sorted(SPEECH_SCOPES))
@pytest.mark.parametrize("plan", [PlanName.CREATOR, PlanName.PRO, PlanName.BUSINESS])
def test_speech_scopes_are_granted_on_speech_plans(scope: Scope, plan: PlanName) -> None:
    assert grant_scopes([scope, Scope.JOBS_READ], PLANS[plan]) == {scope, Scope.JOBS_READ}


@pytest.mark.parametrize("scope", sorted(SPEECH_SCOPES))
def test_speech_scopes_are_refused_on_free_plan(scope: Scope) -> None:
    with pytest.raises(CutroomError) as refused:
        grant_scopes([Scope.VIDEOS_READ, scope], PLANS[PlanName.FREE])
    assert refused.value.code is Code.PERMISSION_DENIED
    assert refused.value.details == {"reason": "plan_required"}


def test_listing_every_scope_counts_as_requesting_speech() -> None:
    with pytest.raises(CutroomError):
        grant_scopes(ALL_SCOPES, PLANS[PlanName.FREE])
