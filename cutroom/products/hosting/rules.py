"""Hosting states, and when hosting can be activated."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

State = Literal["inactive", "queued", "processing", "ready"]
Reason = Literal["plan_required", "missing_input"]


class Provider(StrEnum):
    """Who packages the video: we, with Shaka Packager, or the hosting provider."""

    SHAKA = "shaka"
    MUX = "mux"


@dataclass(frozen=True, slots=True)
class HostingStatus:
    """Hosting status of a video."""

    state: State
    can_activate: bool
    provider: Provider
    reason: Reason | None = None


# A failed activation counts as inactive and can be repeated.
_STATES: dict[str, State] = {"queued": "queued", "processing": "processing", "ready": "ready"}


def hosting_status(
    job_status: str | None, *, plan_allows: bool, has_source: bool, is_configured: bool
) -> HostingStatus:
    """Computes the status; the plan is checked before the source file."""
    state = _STATES.get(job_status or "", "inactive")
    provider = Provider.MUX if state != "inactive" else Provider.SHAKA
    reason: Reason | None = None
    if state == "inactive":
        reason = "plan_required" if not plan_allows else "missing_input" if not has_source else None
    return HostingStatus(state, plan_allows and has_source and is_configured, provider, reason)
