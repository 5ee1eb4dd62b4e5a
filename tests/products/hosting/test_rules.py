"""Tests for hosting status rules."""

import pytest

from cutroom.products.hosting.rules import Provider, hosting_status


@pytest.mark.parametrize(
    ("plan_allows", "has_source", "can_activate", "reason"),
    [
        (True, True, True, None),
        (False, True, False, "plan_required"),
        (True, False, False, "missing_input"),
        (False, False, False, "plan_required"),
    ],
)
def test_inactive_status_has_a_reason(
    plan_allows: bool,  # noqa: FBT001
    has_source: bool,  # noqa: FBT001
    can_activate: bool,  # noqa: FBT001
    reason: str | None,
) -> None:
    for status in (None, "failed"):
        status_found = hosting_status(status, plan_allows=plan_allows, has_source=has_source, is_configured=True)
        assert (status_found.state, status_found.can_activate, status_found.reason) == (
            "inactive",
            can_activate,
            reason,
        )
        assert status_found.provider is Provider.SHAKA


@pytest.mark.parametrize("status", ["queued", "processing", "ready"])
def test_active_status_has_no_reason(status: str) -> None:
    status_found = hosting_status(status, plan_allows=False, has_source=True, is_configured=True)
    assert (status_found.state, status_found.provider, status_found.reason) == (status, Provider.MUX, None)


def test_missing_provider_prevents_activation() -> None:
    assert not hosting_status(None, plan_allows=True, has_source=True, is_configured=False).can_activate
