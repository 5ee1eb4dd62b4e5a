"""Download tiers, dub selection and file names."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

SAMPLE_SECONDS = 60.0
MAX_NAME = 80
FALLBACK_NAME = "video"
# Windows reserves these names, with any extension.
_WINDOWS_DEVICE_NAMES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{name}{index}" for name in ("com", "lpt") for index in range(1, 10))}
)


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


def safe_name(text: str | None) -> str:
    """A portable file name: ASCII letters, digits, dots and dashes, never a path."""
    plain = unicodedata.normalize("NFKD", text or "").encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", plain)
    name = re.sub(r"-*\.[-.]*", ".", re.sub(r"-{2,}", "-", name))[:MAX_NAME].strip("-.")
    if not name:
        return FALLBACK_NAME
    return f"{FALLBACK_NAME}-{name}" if name.partition(".")[0].lower() in _WINDOWS_DEVICE_NAMES else name


def title_stem(file_name: str | None) -> str:
    """A title without a file extension."""
    stem, dot, extension = (file_name or "").rpartition(".")
    return safe_name(stem if dot and re.fullmatch(r"[A-Za-z0-9]{2,5}", extension) else file_name)
