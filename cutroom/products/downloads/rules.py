"""Download tiers, dub selection, and the chapters in a description."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

SAMPLE_SECONDS = 60.0
DOWNLOAD_LIFETIME = timedelta(days=7)  # of a prepared file
MIN_CHAPTERS = 3
_CHAPTER = re.compile(r"(?:\d+:)?\d{1,2}:\d{2} \S.*")


class Artifact(StrEnum):
    """What can be downloaded."""

    LANGUAGE_VIDEO = "language_video"
    SOURCE = "source"
    BUNDLE = "bundle"


class Tier(StrEnum):
    """How much of the video can be downloaded."""

    FULL = "full"
    SAMPLE = "sample"


def download_tier(download: str, *, suspended: bool) -> Tier | None:
    """Suspended libraries cannot download anything."""
    return None if suspended else Tier(download)


def max_duration(tier: Tier) -> float | None:
    """Maximum duration of a file in seconds, None if unlimited."""
    return SAMPLE_SECONDS if tier is Tier.SAMPLE else None


class DubReadiness(StrEnum):
    """Readiness of a dub, best first."""

    COMPLETE = "complete"
    PREVIEW = "preview"
    PENDING = "pending"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DubCandidate:
    """A dub that could be used for a language video."""

    job_id: str
    product: str
    readiness: DubReadiness
    audio_path: str | None = None


def dub_readiness(job_status: str, completion: str | None) -> DubReadiness:
    if job_status == "ready":
        return DubReadiness.COMPLETE
    if job_status == "failed":
        return DubReadiness.FAILED
    return DubReadiness.PREVIEW if completion == "preview_ready" else DubReadiness.PENDING


def select_dub(dubs: Sequence[DubCandidate]) -> DubCandidate | None:
    """The dub to use: the most complete, and cloned voices before stock voices."""
    order = list(DubReadiness)
    return min(dubs, key=lambda each: (order.index(each.readiness), each.product != "premium"), default=None)


def chapter_lines(description: str | None) -> list[str]:
    """The chapters in a description as video sites read them: three or more times with titles, the first at 0:00."""
    lines = [line for line in (description or "").splitlines() if _CHAPTER.fullmatch(line)]
    return lines if len(lines) >= MIN_CHAPTERS and lines[0].startswith("0:00 ") else []
