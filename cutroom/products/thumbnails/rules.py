"""Validates thumbnail requests and parses them into options with defaults."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutroom.engines.thumbnails.port import Pipeline
from cutroom.text.file_names import file_name

MAX_CHARACTERS = 3
MAX_REFERENCE_IDS = 10
MAX_IMAGE_URLS = 3
MAX_PLATES = 2
MAX_BRAND_VOICE_ID = 128
MAX_TEXT = 2_000  # characters of a prompt
MAX_OVERLAY = 200
CANDIDATES = 3  # images per request
MAX_LISTED = 50  # requests per video
PRECISION_SCHEMA = 2
MAX_REFERENCES = 3 + MAX_PLATES  # style, brand and design images, and content plates
NO_CHARACTERS = "The Precision pipeline does not support characters."

FieldFault = tuple[str, str]  # field and message


class ThumbnailMode(StrEnum):
    """Whether the caller's prompt or the video determines the content."""

    PROMPT = "prompt"
    ZERO_PROMPT = "zero_prompt"


class ApprovalMode(StrEnum):
    """Whether detections must be approved before they are used."""

    AUTO = "auto"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class CharacterRef:
    """A character to show: a saved one, image URLs, or a description."""

    character_id: str | None
    image_ids: tuple[str, ...]
    urls: tuple[str, ...]
    name: str | None
    position: str | None
    action: str | None


@dataclass(frozen=True, slots=True)
class ThumbnailOptions:
    """A request with its defaults applied."""

    mode: ThumbnailMode
    pipeline: Pipeline
    prompt: str | None
    characters: tuple[CharacterRef, ...]
    style_url: str | None
    brand_url: str | None
    influence_url: str | None
    plate_urls: tuple[str, ...]
    brand_influence: float
    brand_voice_id: str | None
    overlay: str | None
    omits_overlay: bool
    promotes: bool
    detects_characters: bool
    detects_content: bool
    needs_review: bool
    slots: int
    detect_prompt: str | None
    languages: tuple[str, ...]

    @property
    def detects(self) -> bool:
        return self.detects_characters or self.detects_content

    @property
    def references(self) -> list[str]:
        """The kind of each reference image, which a quote calls a reference product."""
        single = {"style": self.style_url, "brand": self.brand_url, "design": self.influence_url}
        return [kind for kind, url in single.items() if url is not None] + ["content"] * len(self.plate_urls)

    @property
    def urls(self) -> tuple[str, ...]:
        """URLs of all images to fetch, without duplicates."""
        references = [url for url in (self.style_url, self.brand_url, self.influence_url) if url is not None]
        characters = [url for character in self.characters for url in character.urls]
        return tuple(dict.fromkeys([*references, *self.plate_urls, *characters]))


def parse_options(plan: Mapping[str, Any]) -> ThumbnailOptions:
    """Parses a job's plan; requests, packaging and recipes share its format."""
    mode, pipeline = resolve_mode(plan), _pipeline(plan)
    characters = tuple(_character(each) for each in plan.get("characters") or [])
    detects_characters = bool(plan.get("autoDetectCharacters"))
    detects_content = bool(plan.get("autoDetectContentReferences"))
    approvals = {
        "characterDetectApprovalMode": detects_characters,
        "contentDetectApprovalMode": detects_content,
    }
    languages = plan.get("thumbnailTranslationLanguageCodes") if plan.get("autoTranslateThumbnail") else None
    return ThumbnailOptions(
        mode=mode,
        pipeline=pipeline,
        prompt=_text(plan.get("prompt")) if mode is ThumbnailMode.PROMPT else None,
        characters=characters,
        style_url=plan.get("styleReferenceImageUrl"),
        brand_url=plan.get("brandReferenceImageUrl"),
        influence_url=plan.get("designInfluenceImageUrl"),
        plate_urls=plate_urls_in(plan),
        brand_influence=min(max(float(plan.get("brandInfluence") or 0.0), 0.0), 1.0),
        brand_voice_id=plan.get("brandVoiceId"),
        overlay=_text(plan.get("textOverlay")),
        omits_overlay=bool(plan.get("omitTextOverlay")),
        promotes=bool(plan.get("promoteToPrimary")),
        detects_characters=detects_characters,
        detects_content=detects_content,
        needs_review=any(detects and plan.get(name) == ApprovalMode.REVIEW for name, detects in approvals.items()),
        slots=int(plan.get("contentSlotCount") or 1),
        detect_prompt=_text(plan.get("contentDetectPrompt")),
        languages=tuple(languages or ()),
    )


def resolve_mode(plan: Mapping[str, Any]) -> ThumbnailMode:
    """Detection flags imply zero-prompt mode."""
    if plan.get("mode") is not None:
        return ThumbnailMode(plan["mode"])
    detects = plan.get("autoDetectCharacters") or plan.get("autoDetectContentReferences")
    return ThumbnailMode.ZERO_PROMPT if detects else ThumbnailMode.PROMPT


def plate_urls_in(plan: Mapping[str, Any]) -> tuple[str, ...]:
    """Content plates of a Precision thumbnail, without duplicates."""
    single = plan.get("contentReferenceImageUrl")
    several = plan.get("contentReferenceImageUrls") or []
    return tuple(dict.fromkeys([*([single] if single else []), *several]))


def find_faults(plan: Mapping[str, Any]) -> list[FieldFault]:
    """Incompatible fields, each with the field to change."""
    mode, pipeline = resolve_mode(plan), _pipeline(plan)
    found = _pipeline_faults(plan, pipeline)
    if len(plate_urls_in(plan)) > MAX_PLATES:
        found.append(("contentReferenceImageUrls", "At most two content plates are allowed."))
    if mode is ThumbnailMode.PROMPT:
        return found + _prompt_faults(plan, pipeline)
    return found + _zero_prompt_faults(plan, pipeline)


def _pipeline_faults(plan: Mapping[str, Any], pipeline: Pipeline) -> list[FieldFault]:
    if pipeline is not Pipeline.PRECISION:
        return []
    found: list[FieldFault] = []
    if plan.get("characters"):
        found.append(("characters", NO_CHARACTERS))
    if plan.get("referenceSchemaVersion") != PRECISION_SCHEMA:
        found.append(("referenceSchemaVersion", "The Precision pipeline requires version 2."))
    return found


def _prompt_faults(plan: Mapping[str, Any], pipeline: Pipeline) -> list[FieldFault]:
    found: list[FieldFault] = []
    if _text(plan.get("prompt")) is None:
        found.append(("prompt", "Describe what the thumbnail should show."))
    found += [
        (name, "Detection is available only in zero-prompt mode.")
        for name in ("autoDetectCharacters", "autoDetectContentReferences")
        if plan.get(name)
    ]
    if pipeline is Pipeline.PRECISION and not plate_urls_in(plan):
        found.append(("contentReferenceImageUrls", "The Precision pipeline with a prompt requires content images."))
    return found


def _zero_prompt_faults(plan: Mapping[str, Any], pipeline: Pipeline) -> list[FieldFault]:
    found: list[FieldFault] = []
    given, counted = len(plan.get("characters") or []), plan.get("characterCount")
    is_limit = bool(plan.get("autoDetectCharacters")) and not given  # the count limits detection
    if counted is not None and counted != given and not is_limit:
        found.append(("characterCount", "Must equal the number of characters."))
    if pipeline is Pipeline.PRECISION:
        if plan.get("autoDetectCharacters"):
            found.append(("autoDetectCharacters", NO_CHARACTERS))
        if plan.get("brandInfluence") is not None:
            found.append(("brandInfluence", "The Precision pipeline does not support brand influence."))
    elif plan.get("autoDetectContentReferences"):
        found.append(("autoDetectContentReferences", "Only the Precision pipeline supports content plates."))
    return found


def billed_characters(plan: Mapping[str, Any]) -> int:
    """Number of billed characters: those given, or the number to detect."""
    given = len(plan.get("characters") or [])
    return given or (int(plan.get("characterCount") or 1) if plan.get("autoDetectCharacters") else 0)


_QUOTED = re.compile(r"[\"“«„「]([^\"”»“」]{1,80})[\"”»“」]")


def quoted_text(prompt: str | None) -> str | None:
    """The first quoted text of a prompt, which becomes the headline."""
    found = _QUOTED.search(prompt or "")
    return _text(found.group(1)) if found else None


def _pipeline(plan: Mapping[str, Any]) -> Pipeline:
    return Pipeline(plan.get("pipelineMode") or Pipeline.CREATIVE)


def _character(given: Mapping[str, Any]) -> CharacterRef:
    single: Sequence[str] = [given["imageUrl"]] if given.get("imageUrl") else []
    return CharacterRef(
        character_id=given.get("characterId"),
        image_ids=tuple(given.get("referenceImageIds") or ()),
        urls=tuple(dict.fromkeys([*single, *(given.get("imageUrls") or [])])),
        name=_text(given.get("name")),
        position=_text(given.get("position")),
        action=_text(given.get("action")),
    )


def _text(given: str | None) -> str | None:
    return (given or "").strip() or None


def image_file_name(title: str | None, number: int, *, language: str | None) -> str:
    """`launch-thumbnail-1.jpg`, or `launch-thumbnail-4-pt.jpg` with a translated headline."""
    return file_name(title, "thumbnail", number + 1, *([language] if language else []), extension="jpg")
