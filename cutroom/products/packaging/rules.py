"""Which runs a request asks for, and when a value may be replaced."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutroom.jobs.ids import AutomationType


class Overwrite(StrEnum):
    """What happens to a title or a description that is there already."""

    FILL = "fill-if-empty"
    ALWAYS = "always"
    NEVER = "never"


SKIPPED = "skipped"  # in a result: why nothing was written


@dataclass(frozen=True, slots=True)
class Run:
    """One automation to run, with its plan."""

    type: AutomationType
    plan: Mapping[str, Any]

    @property
    def overwrite(self) -> Overwrite:
        return Overwrite(self.plan.get("overwriteMode") or Overwrite.FILL)


def runs_of(options: Mapping[str, Any]) -> list[Run]:
    """What is enabled, in the order of the contract; the shared brand voice stands in where a run names none."""
    shared = options.get("brandVoiceId")
    found = []
    for automation in AutomationType:
        asked = options.get(automation.value)
        if not asked or not asked.get("enabled"):
            continue
        plan = {name: value for name, value in asked.items() if name != "enabled"}
        if shared is not None and automation is not AutomationType.TITLE:
            plan.setdefault("brandVoiceId", shared)
        found.append(Run(automation, plan))
    return found


def why_skipped(overwrite: Overwrite, current: str | None) -> str | None:
    """Why a run writes nothing, or nothing when it does."""
    if overwrite is Overwrite.NEVER:
        return "Nothing is written with overwriteMode `never`."
    if overwrite is Overwrite.FILL and (current or "").strip():
        return "There is a value already."
    return None


def status_of(status: str, result: Mapping[str, Any] | None, *, waits_for_review: bool) -> str:
    """How a run shows in the state of packaging."""
    if status == "processing" and waits_for_review:
        return "review"
    return SKIPPED if status == "ready" and SKIPPED in (result or {}) else status
