"""When hosting may be activated, and what its states are called."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

State = Literal["inactive", "queued", "processing", "ready"]
Reason = Literal["plan_required", "missing_input"]


class Provider(StrEnum):
    """Who packages what is played: ourselves, with Shaka Packager, or the host."""

    SHAKA = "shaka"
    MUX = "mux"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a video's hosting stands."""

    state: State
    can_activate: bool
    provider: Provider
    reason: Reason | None = None


# An activation that failed leaves the video as it was: it can be activated again.
_STATES: dict[str, State] = {"queued": "queued", "processing": "processing", "ready": "ready"}


def standing(job_status: str | None, *, plan_allows: bool, has_source: bool, is_configured: bool) -> Standing:
    """The plan is asked before the file: whoever may not host at all need not look for one."""
    state = _STATES.get(job_status or "", "inactive")
    provider = Provider.MUX if state != "inactive" else Provider.SHAKA
    reason: Reason | None = None
    if state == "inactive":
        reason = "plan_required" if not plan_allows else "missing_input" if not has_source else None
    return Standing(state, plan_allows and has_source and is_configured, provider, reason)
