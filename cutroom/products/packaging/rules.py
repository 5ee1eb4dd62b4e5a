"""Determines which automations to run, and whether they may overwrite existing text."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutroom.jobs.ids import AutomationType


class OverwriteMode(StrEnum):
    """What happens to an existing title or description."""

    FILL = "fill-if-empty"
    ALWAYS = "always"
    NEVER = "never"


SKIPPED = "skipped"  # result key with the reason


@dataclass(frozen=True, slots=True)
class AutomationRun:
    """An automation with its plan."""

    type: AutomationType
    plan: Mapping[str, Any]

    @property
    def overwrite(self) -> OverwriteMode:
        return OverwriteMode(self.plan.get("overwriteMode") or OverwriteMode.FILL)


def enabled_runs(options: Mapping[str, Any]) -> list[AutomationRun]:
    """Enabled automations in contract order; the shared brand voice applies to runs without their own."""
    shared = options.get("brandVoiceId")
    found = []
    for automation in AutomationType:
        settings = options.get(automation.value)
        if not settings or not settings.get("enabled"):
            continue
        plan = {name: value for name, value in settings.items() if name != "enabled"}
        if shared is not None and automation is not AutomationType.TITLE:
            plan.setdefault("brandVoiceId", shared)
        found.append(AutomationRun(automation, plan))
    return found


def skip_reason(overwrite: OverwriteMode, current: str | None) -> str | None:
    """Why a run writes nothing, or None if it does."""
    if overwrite is OverwriteMode.NEVER:
        return "overwriteMode is `never`."
    if overwrite is OverwriteMode.FILL and (current or "").strip():
        return "The field already has a value."
    return None


def run_status(status: str, result: Mapping[str, Any] | None, *, in_review: bool) -> str:
    """A run's status in the packaging state."""
    if status == "processing" and in_review:
        return "review"
    return SKIPPED if status == "ready" and SKIPPED in (result or {}) else status
