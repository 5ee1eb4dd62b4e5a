"""What can be asked for together, and what it means where nothing is said."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutroom.engines.thumbnails.port import Pipeline

MAX_CHARACTERS = 3
MAX_REFERENCE_IDS = 10
MAX_IMAGE_URLS = 3
MAX_PLATES = 2
MAX_BRAND_VOICE_ID = 128
MAX_TEXT = 2_000  # of prompts
MAX_OVERLAY = 200
CANDIDATES = 3  # that a request makes
MAX_LISTED = 50  # requests of a video, the newest
PRECISION_SCHEMA = 2

Fault = tuple[str, str]  # where, and what is wrong there


class Mode(StrEnum):
    """Who says what a thumbnail shows: the caller, or the film."""

    PROMPT = "prompt"
    ZERO_PROMPT = "zero_prompt"


class Approval(StrEnum):
    """Whether somebody looks at what was detected before it is used."""

    AUTO = "auto"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class CharacterRef:
    """A figure to show: a saved one, pictures of one, or words about one."""

    character_id: str | None
    image_ids: tuple[str, ...]
    urls: tuple[str, ...]
    name: str | None
    position: str | None
    action: str | None


@dataclass(frozen=True, slots=True)
class ThumbnailOptions:
    """A request as its workflow reads it: what was said, and what stands where nothing was."""

    mode: Mode
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
    def urls(self) -> tuple[str, ...]:
        """Every picture that has to be fetched, once."""
        named = [url for url in (self.style_url, self.brand_url, self.influence_url) if url is not None]
        figures = [url for character in self.characters for url in character.urls]
        return tuple(dict.fromkeys([*named, *self.plate_urls, *figures]))


def parse_options(plan: Mapping[str, Any]) -> ThumbnailOptions:
    """From the plan of a job: of a request, of packaging and of a recipe alike."""
    mode, pipeline = mode_of(plan), _pipeline(plan)
    characters = tuple(_character(each) for each in plan.get("characters") or [])
    detects_characters = bool(plan.get("autoDetectCharacters"))
    detects_content = bool(plan.get("autoDetectContentReferences"))
    in_review = {
        "characterDetectApprovalMode": detects_characters,
        "contentDetectApprovalMode": detects_content,
    }
    languages = plan.get("thumbnailTranslationLanguageCodes") if plan.get("autoTranslateThumbnail") else None
    return ThumbnailOptions(
        mode=mode,
        pipeline=pipeline,
        prompt=_text(plan.get("prompt")) if mode is Mode.PROMPT else None,
        characters=characters,
        style_url=plan.get("styleReferenceImageUrl"),
        brand_url=plan.get("brandReferenceImageUrl"),
        influence_url=plan.get("designInfluenceImageUrl"),
        plate_urls=plates_of(plan),
        brand_influence=min(max(float(plan.get("brandInfluence") or 0.0), 0.0), 1.0),
        brand_voice_id=plan.get("brandVoiceId"),
        overlay=_text(plan.get("textOverlay")),
        omits_overlay=bool(plan.get("omitTextOverlay")),
        promotes=bool(plan.get("promoteToPrimary")),
        detects_characters=detects_characters,
        detects_content=detects_content,
        needs_review=any(asked and plan.get(name) == Approval.REVIEW for name, asked in in_review.items()),
        slots=int(plan.get("contentSlotCount") or 1),
        detect_prompt=_text(plan.get("contentDetectPrompt")),
        languages=tuple(languages or ()),
    )


def mode_of(plan: Mapping[str, Any]) -> Mode:
    """Flags that only a film can answer imply that the film is asked."""
    if plan.get("mode") is not None:
        return Mode(plan["mode"])
    detects = plan.get("autoDetectCharacters") or plan.get("autoDetectContentReferences")
    return Mode.ZERO_PROMPT if detects else Mode.PROMPT


def plates_of(plan: Mapping[str, Any]) -> tuple[str, ...]:
    """Pictures that a Precision thumbnail shows as they are; one named both ways is one."""
    single = plan.get("contentReferenceImageUrl")
    several = plan.get("contentReferenceImageUrls") or []
    return tuple(dict.fromkeys([*([single] if single else []), *several]))


def faults_in(plan: Mapping[str, Any]) -> list[Fault]:
    """Everything that does not go together, each with the field to change."""
    mode, pipeline = mode_of(plan), _pipeline(plan)
    found = _faults_of_pipeline(plan, pipeline)
    if len(plates_of(plan)) > MAX_PLATES:
        found.append(("contentReferenceImageUrls", "There are at most two content plates."))
    if mode is Mode.PROMPT:
        return found + _faults_of_prompt(plan, pipeline)
    return found + _faults_of_zero_prompt(plan, pipeline)


def _faults_of_pipeline(plan: Mapping[str, Any], pipeline: Pipeline) -> list[Fault]:
    if pipeline is not Pipeline.PRECISION:
        return []
    found: list[Fault] = []
    if plan.get("characters"):
        found.append(("characters", "The Precision pipeline shows no characters."))
    if plan.get("referenceSchemaVersion") != PRECISION_SCHEMA:
        found.append(("referenceSchemaVersion", "The Precision pipeline needs version 2."))
    return found


def _faults_of_prompt(plan: Mapping[str, Any], pipeline: Pipeline) -> list[Fault]:
    found: list[Fault] = []
    if _text(plan.get("prompt")) is None:
        found.append(("prompt", "Say what the thumbnail should show."))
    found += [
        (name, "Only a thumbnail without a prompt can detect this.")
        for name in ("autoDetectCharacters", "autoDetectContentReferences")
        if plan.get(name)
    ]
    if pipeline is Pipeline.PRECISION and not plates_of(plan):
        found.append(("contentReferenceImageUrls", "The Precision pipeline needs content images with a prompt."))
    return found


def _faults_of_zero_prompt(plan: Mapping[str, Any], pipeline: Pipeline) -> list[Fault]:
    found: list[Fault] = []
    given, counted = len(plan.get("characters") or []), plan.get("characterCount")
    is_open = bool(plan.get("autoDetectCharacters")) and not given  # how many to look for
    if counted is not None and counted != given and not is_open:
        found.append(("characterCount", "This must be the number of characters."))
    if pipeline is Pipeline.PRECISION:
        if plan.get("autoDetectCharacters"):
            found.append(("autoDetectCharacters", "The Precision pipeline shows no characters."))
        if plan.get("brandInfluence") is not None:
            found.append(("brandInfluence", "The Precision pipeline keeps its content as it is."))
    elif plan.get("autoDetectContentReferences"):
        found.append(("autoDetectContentReferences", "Only the Precision pipeline shows content plates."))
    return found


def characters_billed(plan: Mapping[str, Any]) -> int:
    """How many figures are paid for: those that are named, or that are to be looked for."""
    given = len(plan.get("characters") or [])
    return given or (int(plan.get("characterCount") or 1) if plan.get("autoDetectCharacters") else 0)


_QUOTED = re.compile(r"[\"“«„「]([^\"”»“」]{1,80})[\"”»“」]")


def quoted_in(prompt: str | None) -> str | None:
    """Words that a prompt puts in quotation marks are words to be seen."""
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
