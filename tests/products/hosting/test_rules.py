"""When hosting may be activated, and how its states are told."""

import pytest

from cutroom.products.hosting.rules import Provider, standing


@pytest.mark.parametrize(
    ("plan_allows", "has_source", "can_activate", "reason"),
    [
        (True, True, True, None),
        (False, True, False, "plan_required"),
        (True, False, False, "missing_input"),
        (False, False, False, "plan_required"),
    ],
)
def test_an_inactive_video_says_why(
    plan_allows: bool,  # noqa: FBT001
    has_source: bool,  # noqa: FBT001
    can_activate: bool,  # noqa: FBT001
    reason: str | None,
) -> None:
    for status in (None, "failed"):
        found = standing(status, plan_allows=plan_allows, has_source=has_source, is_configured=True)
        assert (found.state, found.can_activate, found.reason) == ("inactive", can_activate, reason)
        assert found.provider is Provider.SHAKA


@pytest.mark.parametrize("status", ["queued", "processing", "ready"])
def test_what_is_hosted_or_on_its_way_has_no_reason(status: str) -> None:
    found = standing(status, plan_allows=False, has_source=True, is_configured=True)
    assert (found.state, found.provider, found.reason) == (status, Provider.MUX, None)


def test_without_a_provider_nothing_can_be_activated() -> None:
    assert not standing(None, plan_allows=True, has_source=True, is_configured=False).can_activate
