"""What can be asked for: three kinds, each with its own bounds, and what stands where nothing is said."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutroom.products.shorts.captions.looks import Look
from cutroom.products.shorts.captions.zones import Position

MIN_SECONDS, MAX_SECONDS = 15.0, 180.0
MAX_SHORTS = 10
MAX_CLIPS = 4
MAX_PROMPT = 2_000
MAX_SHOWN = 5  # outputs of a request that are told of
CLIP_SECONDS = (300.0, 1_500.0)
PROMO_SECONDS = (45.0, 60.0)


class Kind(StrEnum):
    """What is made."""

    SHORTS = "shorts"
    PROMO = "promo"
    CLIPS = "clips"


class Aspect(StrEnum):
    """Width to height."""

    PORTRAIT = "9:16"
    LANDSCAPE = "16:9"
    SQUARE = "1:1"


SIZES: Mapping[Aspect, tuple[int, int]] = {
    Aspect.PORTRAIT: (1080, 1920),
    Aspect.LANDSCAPE: (1920, 1080),
    Aspect.SQUARE: (1080, 1080),
}


@dataclass(frozen=True, slots=True)
class ShortsOptions:
    """A request as its workflow reads it: what was said, and what stands where nothing was."""

    kind: Kind
    count: int
    min_seconds: float
    max_seconds: float
    aspect: Aspect
    look: Look
    position: Position
    prompt: str | None
    soundtrack: bool
    generated_thumbnail: bool


UNLESS_SAID = {Kind.SHORTS: 3, Kind.PROMO: 1, Kind.CLIPS: 1}  # outputs


def parse_options(plan: Mapping[str, Any]) -> ShortsOptions:
    """From the plan of a job, of a recipe as of a request: fields of other kinds count for nothing."""
    kind = Kind(plan.get("kind") or Kind.SHORTS)
    is_shorts, is_clips = kind is Kind.SHORTS, kind is Kind.CLIPS
    low, high = {Kind.PROMO: PROMO_SECONDS, Kind.CLIPS: CLIP_SECONDS}.get(kind, (MIN_SECONDS, MAX_SECONDS))
    aspect = Aspect.LANDSCAPE if is_clips else Aspect(plan.get("aspectRatio") or Aspect.PORTRAIT)
    prompt = (plan.get("clipSelectionPrompt") or "").strip()
    return ShortsOptions(
        kind=kind,
        count=count_of(kind, plan.get("numClips")),
        min_seconds=float(plan.get("minDuration") or low) if is_shorts else low,
        max_seconds=float(plan.get("maxDuration") or high) if is_shorts else high,
        aspect=aspect,
        look=Look(plan.get("captionStyle") or Look.DEFAULT),
        position=Position(plan.get("captionPosition") or Position.BOTTOM),
        prompt=prompt or None,
        soundtrack=kind is Kind.PROMO and bool(plan.get("includeSoundtrack")),
        generated_thumbnail=is_clips and bool(plan.get("includeGeneratedThumbnail")),
    )


def count_of(kind: Kind, asked: int | None) -> int:
    """How many outputs there will be: one promo, at most four clips."""
    if kind is Kind.PROMO:
        return 1
    most = MAX_CLIPS if kind is Kind.CLIPS else MAX_SHORTS
    return max(1, min(most, asked or UNLESS_SAID[kind]))
