"""Options of shorts, promos and clips: bounds, defaults and parsing."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutroom.credits.pricing import MAX_CLIPS, MAX_SHORTS
from cutroom.products.shorts.captions.safe_zones import CaptionPosition
from cutroom.products.shorts.captions.styles import CaptionStyle

MIN_SECONDS, MAX_SECONDS = 15.0, 180.0
MAX_PROMPT = 2_000
MAX_LISTED_OUTPUTS = 5  # per request in API responses
CLIP_SECONDS = (300.0, 1_500.0)
PROMO_SECONDS = (45.0, 60.0)


class ShortsKind(StrEnum):
    """Kind of output."""

    SHORTS = "shorts"
    PROMO = "promo"
    CLIPS = "clips"


class AspectRatio(StrEnum):
    """Width to height."""

    PORTRAIT = "9:16"
    LANDSCAPE = "16:9"
    SQUARE = "1:1"


OUTPUT_SIZES: Mapping[AspectRatio, tuple[int, int]] = {
    AspectRatio.PORTRAIT: (1080, 1920),
    AspectRatio.LANDSCAPE: (1920, 1080),
    AspectRatio.SQUARE: (1080, 1080),
}


@dataclass(frozen=True, slots=True)
class ShortsOptions:
    """A request's options with defaults applied."""

    kind: ShortsKind
    count: int
    min_seconds: float
    max_seconds: float
    aspect_ratio: AspectRatio
    caption_style: CaptionStyle
    caption_position: CaptionPosition
    prompt: str | None
    watermark: bool
    soundtrack: bool
    generated_thumbnail: bool


DEFAULT_COUNTS = {ShortsKind.SHORTS: 3, ShortsKind.PROMO: 1, ShortsKind.CLIPS: 1}  # outputs


def parse_options(plan: Mapping[str, Any]) -> ShortsOptions:
    """Parses a job plan, of a request or a recipe; fields of other kinds are ignored."""
    kind = ShortsKind(plan.get("kind") or ShortsKind.SHORTS)
    is_shorts, is_clips = kind is ShortsKind.SHORTS, kind is ShortsKind.CLIPS
    low, high = {ShortsKind.PROMO: PROMO_SECONDS, ShortsKind.CLIPS: CLIP_SECONDS}.get(kind, (MIN_SECONDS, MAX_SECONDS))
    aspect_ratio = AspectRatio.LANDSCAPE if is_clips else AspectRatio(plan.get("aspectRatio") or AspectRatio.PORTRAIT)
    prompt = (plan.get("clipSelectionPrompt") or "").strip()
    return ShortsOptions(
        kind=kind,
        count=output_count(kind, plan.get("numClips")),
        min_seconds=float(plan.get("minDuration") or low) if is_shorts else low,
        max_seconds=float(plan.get("maxDuration") or high) if is_shorts else high,
        aspect_ratio=aspect_ratio,
        caption_style=CaptionStyle(plan.get("captionStyle") or CaptionStyle.DEFAULT),
        caption_position=CaptionPosition(plan.get("captionPosition") or CaptionPosition.BOTTOM),
        prompt=prompt or None,
        watermark=is_shorts and bool(plan.get("includeWatermark")),
        soundtrack=kind is ShortsKind.PROMO and bool(plan.get("includeSoundtrack")),
        generated_thumbnail=is_clips and bool(plan.get("includeGeneratedThumbnail")),
    )


def output_count(kind: ShortsKind, requested: int | None) -> int:
    """Number of outputs: one promo, at most four clips."""
    if kind is ShortsKind.PROMO:
        return 1
    maximum = MAX_CLIPS if kind is ShortsKind.CLIPS else MAX_SHORTS
    return max(1, min(maximum, requested or DEFAULT_COUNTS[kind]))


def shortest_source(kind: ShortsKind, min_seconds: float | None) -> float:
    """Seconds that a video needs for one output."""
    if kind is ShortsKind.SHORTS:
        return min_seconds or MIN_SECONDS
    return (PROMO_SECONDS if kind is ShortsKind.PROMO else CLIP_SECONDS)[0]
