"""Thumbnail requests that the contract rejects, with the field that is reported, and requests that it accepts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PLATE = "https://images.example.com/plate.png"
OTHER = "https://images.example.com/other.png"
CHARACTER = {"imageUrl": "https://images.example.com/character.png"}
PRECISION: dict[str, Any] = {"pipelineMode": "thumbnail-precision", "referenceSchemaVersion": 2}
ZERO_PROMPT: dict[str, Any] = {"mode": "zero_prompt"}
PROMPT: dict[str, Any] = {"mode": "prompt", "prompt": "A lens on a table"}


@dataclass(frozen=True, slots=True)
class ValidationCase:
    """A request body, and the field it is rejected for; None if it is accepted."""

    name: str
    body: dict[str, Any]
    field: str | None = None


REJECTED: Sequence[ValidationCase] = (
    ValidationCase("no prompt", {}, "prompt"),
    ValidationCase("a blank prompt", {"prompt": " \t\n"}, "prompt"),
    ValidationCase("prompt mode without a prompt", {"mode": "prompt"}, "prompt"),
    ValidationCase("an unknown mode", {**PROMPT, "mode": "magic"}, "mode"),
    ValidationCase("an unknown pipeline", {**PROMPT, "pipelineMode": "thumbnail-v3"}, "pipelineMode"),
    ValidationCase(
        "prompt mode that detects characters", {**PROMPT, "autoDetectCharacters": True}, "autoDetectCharacters"
    ),
    ValidationCase(
        "prompt mode that detects content",
        {**PROMPT, **PRECISION, "contentReferenceImageUrl": PLATE, "autoDetectContentReferences": True},
        "autoDetectContentReferences",
    ),
    ValidationCase("prompt and Precision without content", {**PROMPT, **PRECISION}, "contentReferenceImageUrls"),
    ValidationCase(
        "prompt and Precision with characters",
        {**PROMPT, **PRECISION, "contentReferenceImageUrl": PLATE, "characters": [CHARACTER]},
        "characters",
    ),
    ValidationCase(
        "prompt and Precision of version 1",
        {**PROMPT, **PRECISION, "contentReferenceImageUrl": PLATE, "referenceSchemaVersion": 1},
        "referenceSchemaVersion",
    ),
    ValidationCase(
        "prompt and Precision without a version",
        {**PROMPT, "pipelineMode": "thumbnail-precision", "contentReferenceImageUrl": PLATE},
        "referenceSchemaVersion",
    ),
    ValidationCase(
        "three plates",
        {**PROMPT, **PRECISION, "contentReferenceImageUrls": [PLATE, OTHER, f"{PLATE}?3"]},
        "contentReferenceImageUrls",
    ),
    ValidationCase(
        "one plate and a list of two",
        {
            **PROMPT,
            **PRECISION,
            "contentReferenceImageUrl": f"{PLATE}?3",
            "contentReferenceImageUrls": [PLATE, OTHER],
        },
        "contentReferenceImageUrls",
    ),
    ValidationCase(
        "an empty list of plates", {**PROMPT, **PRECISION, "contentReferenceImageUrls": []}, "contentReferenceImageUrls"
    ),
    ValidationCase("version 3", {**PROMPT, "referenceSchemaVersion": 3}, "referenceSchemaVersion"),
    ValidationCase("version 0", {**ZERO_PROMPT, "referenceSchemaVersion": 0}, "referenceSchemaVersion"),
    ValidationCase(
        "zero-prompt Precision of version 1",
        {**ZERO_PROMPT, **PRECISION, "referenceSchemaVersion": 1},
        "referenceSchemaVersion",
    ),
    ValidationCase(
        "zero-prompt Precision with characters", {**ZERO_PROMPT, **PRECISION, "characters": [CHARACTER]}, "characters"
    ),
    ValidationCase(
        "zero-prompt Precision that detects characters",
        {**ZERO_PROMPT, **PRECISION, "autoDetectCharacters": True},
        "autoDetectCharacters",
    ),
    ValidationCase(
        "Precision that detects characters, no mode",
        {**PRECISION, "autoDetectCharacters": True},
        "autoDetectCharacters",
    ),
    ValidationCase(
        "Creative that detects content",
        {**ZERO_PROMPT, "autoDetectContentReferences": True},
        "autoDetectContentReferences",
    ),
    ValidationCase(
        "Creative that detects content, no mode",
        {"autoDetectContentReferences": True},
        "autoDetectContentReferences",
    ),
    ValidationCase(
        "zero-prompt Precision with brandInfluence",
        {**ZERO_PROMPT, **PRECISION, "brandInfluence": 0.5},
        "brandInfluence",
    ),
    ValidationCase(
        "fewer characters than counted",
        {**ZERO_PROMPT, "characterCount": 2, "characters": [CHARACTER]},
        "characterCount",
    ),
    ValidationCase(
        "more characters than counted",
        {**ZERO_PROMPT, "characterCount": 0, "characters": [CHARACTER]},
        "characterCount",
    ),
    ValidationCase("a count without characters", {**ZERO_PROMPT, "characterCount": 1}, "characterCount"),
    ValidationCase("four characters", {**ZERO_PROMPT, "characters": [CHARACTER] * 4}, "characters"),
    ValidationCase("characterCount 4", {**ZERO_PROMPT, "characterCount": 4}, "characterCount"),
    ValidationCase("characterCount -1", {**ZERO_PROMPT, "characterCount": -1}, "characterCount"),
    ValidationCase(
        "eleven reference images",
        {**ZERO_PROMPT, "characters": [{"referenceImageIds": [str(number) for number in range(11)]}]},
        "characters.0.referenceImageIds",
    ),
    ValidationCase(
        "four image URLs", {**ZERO_PROMPT, "characters": [{"imageUrls": [PLATE] * 4}]}, "characters.0.imageUrls"
    ),
    ValidationCase("contentSlotCount 0", {**ZERO_PROMPT, **PRECISION, "contentSlotCount": 0}, "contentSlotCount"),
    ValidationCase("contentSlotCount 3", {**ZERO_PROMPT, **PRECISION, "contentSlotCount": 3}, "contentSlotCount"),
    ValidationCase(
        "an unknown approval mode for characters",
        {**ZERO_PROMPT, "characterDetectApprovalMode": "later"},
        "characterDetectApprovalMode",
    ),
    ValidationCase(
        "an unknown approval mode for content",
        {**ZERO_PROMPT, "contentDetectApprovalMode": "later"},
        "contentDetectApprovalMode",
    ),
    ValidationCase("a brand voice id of 129 characters", {**ZERO_PROMPT, "brandVoiceId": "v" * 129}, "brandVoiceId"),
    ValidationCase(
        "a duplicate language",
        {**ZERO_PROMPT, "thumbnailTranslationLanguageCodes": ["pt", "PT"]},
        "thumbnailTranslationLanguageCodes",
    ),
    ValidationCase(
        "an invalid language",
        {**ZERO_PROMPT, "thumbnailTranslationLanguageCodes": ["p"]},
        "thumbnailTranslationLanguageCodes.0",
    ),
    ValidationCase(
        "an image over http",
        {**PROMPT, "styleReferenceImageUrl": "http://a.example.com/x.png"},
        "styleReferenceImageUrl",
    ),
    ValidationCase(
        "a local file", {**PROMPT, "brandReferenceImageUrl": "file:///etc/passwd"}, "brandReferenceImageUrl"
    ),
    ValidationCase("not a number", {**PROMPT, "brandInfluence": "much"}, "brandInfluence"),
)

ACCEPTED: Sequence[ValidationCase] = (
    ValidationCase("a prompt", {"prompt": "A lens"}),
    ValidationCase("a prompt with characters", {**PROMPT, "characters": [CHARACTER], "brandInfluence": 0.4}),
    ValidationCase(
        "Precision with a plate", {**PROMPT, **PRECISION, "contentReferenceImageUrl": PLATE, "textOverlay": "See"}
    ),
    ValidationCase("Precision with two plates", {**PROMPT, **PRECISION, "contentReferenceImageUrls": [PLATE, OTHER]}),
    ValidationCase(
        "one plate in both fields",
        {**PROMPT, **PRECISION, "contentReferenceImageUrl": PLATE, "contentReferenceImageUrls": [PLATE, OTHER]},
    ),
    ValidationCase("no prompt", ZERO_PROMPT),
    ValidationCase("characters with a count", {**ZERO_PROMPT, "characterCount": 1, "characters": [CHARACTER]}),
    ValidationCase("characters without a count", {**ZERO_PROMPT, "characters": [CHARACTER, CHARACTER]}),
    ValidationCase("zero-prompt Precision", {**ZERO_PROMPT, **PRECISION}),
    ValidationCase("without a headline", {**ZERO_PROMPT, "omitTextOverlay": True}),
    ValidationCase("languages without the flag", {**ZERO_PROMPT, "thumbnailTranslationLanguageCodes": ["xx"]}),
    ValidationCase("the flag without languages", {**ZERO_PROMPT, "autoTranslateThumbnail": True}),
)
