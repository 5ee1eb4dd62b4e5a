"""Tests for hosting status rules."""

from itertools import product

import pytest

from cutroom.products.hosting.rules import Obstacle, Provider, hosting_status


@pytest.mark.parametrize(
    ("plan_allows", "has_source", "is_configured", "reason", "obstacle"),
    [
        (True, True, True, None, None),
        (False, True, True, "plan_required", Obstacle.PLAN),
        (True, False, True, "missing_input", Obstacle.SOURCE),
        (False, False, False, "plan_required", Obstacle.PLAN),
        (True, False, False, "missing_input", Obstacle.SOURCE),
        (True, True, False, "missing_input", Obstacle.PROVIDER),
    ],
)
def test_inactive_status_has_a_reason(
    *, plan_allows: bool, has_source: bool, is_configured: bool, reason: str | None, obstacle: Obstacle | None
) -> None:
    for job_status in (None, "failed"):
        found = hosting_status(job_status, plan_allows=plan_allows, has_source=has_source, is_configured=is_configured)
        assert (found.state, found.can_activate, found.obstacle) == ("inactive", obstacle is None, obstacle)
        assert (found.obstacle.reason if found.obstacle is not None else None) == reason
        assert found.provider is Provider.SHAKA


@pytest.mark.parametrize("job_status", [None, "queued", "processing", "ready", "failed"])
def test_what_cannot_be_activated_always_has_a_reason(job_status: str | None) -> None:
    for plan_allows, has_source, is_configured in product((True, False), repeat=3):
        found = hosting_status(job_status, plan_allows=plan_allows, has_source=has_source, is_configured=is_configured)
        assert found.can_activate == (plan_allows and has_source and is_configured)
        assert (found.obstacle is None) == found.can_activate


@pytest.mark.parametrize("job_status", ["queued", "processing", "ready"])
def test_active_status_names_the_hosting_provider(job_status: str) -> None:
    found = hosting_status(job_status, plan_allows=True, has_source=True, is_configured=True)
    assert (found.state, found.provider, found.obstacle) == (job_status, Provider.MUX, None)
