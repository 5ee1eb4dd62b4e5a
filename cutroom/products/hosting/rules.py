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


class Obstacle(StrEnum):
    """What prevents activation, the first first."""

    PLAN = "Professional hosting needs the Pro or Business plan."
    SOURCE = "The source file of this video is not ready."
    PROVIDER = "No hosting provider is configured."

    @property
    def reason(self) -> Reason:
        """As the contract names it; without a provider, an input of the installation is missing."""
        return "plan_required" if self is Obstacle.PLAN else "missing_input"


@dataclass(frozen=True, slots=True)
class HostingStatus:
    """Hosting status of a video."""

    state: State
    provider: Provider
    obstacle: Obstacle | None = None

    @property
    def can_activate(self) -> bool:
        return self.obstacle is None


# A failed activation counts as inactive and can be repeated.
_STATES: dict[str, State] = {"queued": "queued", "processing": "processing", "ready": "ready"}


def hosting_status(
    job_status: str | None, *, plan_allows: bool, has_source: bool, is_configured: bool
) -> HostingStatus:
    """Computes the status; the plan is checked before the source file, and that before the provider."""
    state = _STATES.get(job_status or "", "inactive")
    provider = Provider.MUX if state != "inactive" else Provider.SHAKA
    passed = {Obstacle.PLAN: plan_allows, Obstacle.SOURCE: has_source, Obstacle.PROVIDER: is_configured}
    return HostingStatus(state, provider, next((obstacle for obstacle in Obstacle if not passed[obstacle]), None))
