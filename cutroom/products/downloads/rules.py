"""Who may download how much, which dub is taken, and what files are called."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

SAMPLE_SECONDS = 60.0
MAX_NAME = 80
UNNAMED = "video"
# Windows keeps these for devices, whatever follows a dot.
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{name}{at}" for name in ("com", "lpt") for at in range(1, 10))})


class Artifact(StrEnum):
    """What can be downloaded."""

    LANGUAGE_VIDEO = "language_video"
    SOURCE = "source"
    BUNDLE = "bundle"


class Tier(StrEnum):
    """How much of it."""

    FULL = "full"
    SAMPLE = "sample"


def tier_of(download: str, *, suspended: bool) -> Tier | None:
    """A suspended library downloads nothing, whatever its plan."""
    return None if suspended else Tier(download)


def cap_of(tier: Tier) -> float | None:
    """How many seconds a file may last."""
    return SAMPLE_SECONDS if tier is Tier.SAMPLE else None


class Ground(StrEnum):
    """How far a dub has come, the best first."""

    COMPLETE = "complete"
    PREVIEW = "preview"
    PENDING = "pending"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DubState:
    """A dub that a language video could be made from."""

    job_id: str
    product: str
    ground: Ground
    audio_path: str | None = None


def ground_of(job_status: str, completion: str | None) -> Ground:
    if job_status == "ready":
        return Ground.COMPLETE
    if job_status == "failed":
        return Ground.FAILED
    return Ground.PREVIEW if completion == "preview_ready" else Ground.PENDING


def select(dubs: Sequence[DubState]) -> DubState | None:
    """The dub to take: the one that has come furthest, and clones before voices of the service."""
    order = list(Ground)
    return min(dubs, key=lambda each: (order.index(each.ground), each.product != "premium"), default=None)


def safe_name(text: str | None) -> str:
    """A title as a name that every system takes: plain letters, digits, dots, dashes, and never a path."""
    plain = unicodedata.normalize("NFKD", text or "").encode("ascii", "ignore").decode()
    kept = re.sub(r"[^A-Za-z0-9.-]+", "-", plain)
    kept = re.sub(r"-*\.[-.]*", ".", re.sub(r"-{2,}", "-", kept))[:MAX_NAME].strip("-.")
    if not kept:
        return UNNAMED
    return f"{UNNAMED}-{kept}" if kept.partition(".")[0].lower() in _DEVICES else kept


def stem_of(file_name: str | None) -> str:
    """A title without the ending of the file that it was taken from."""
    stem, dot, ending = (file_name or "").rpartition(".")
    return safe_name(stem if dot and re.fullmatch(r"[A-Za-z0-9]{2,5}", ending) else file_name)
