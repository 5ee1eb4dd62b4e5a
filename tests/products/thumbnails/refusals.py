"""Combinations that the contract refuses, each with the field that is named for it; and those that it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PLATE = "https://pictures.example.com/plate.png"
OTHER = "https://pictures.example.com/other.png"
FIGURE = {"imageUrl": "https://pictures.example.com/figure.png"}
PRECISE: dict[str, Any] = {"pipelineMode": "thumbnail-precision", "referenceSchemaVersion": 2}
ZERO: dict[str, Any] = {"mode": "zero_prompt"}
WORDS: dict[str, Any] = {"mode": "prompt", "prompt": "A lens on a table"}


@dataclass(frozen=True, slots=True)
class Case:
    """A body, and which field it is refused for; none where it is taken."""

    name: str
    body: dict[str, Any]
    field: str | None = None


REFUSED: Sequence[Case] = (
    Case("no prompt", {}, "prompt"),
    Case("a prompt of blanks", {"prompt": " \t\n"}, "prompt"),
    Case("prompt mode without a prompt", {"mode": "prompt"}, "prompt"),
    Case("an unknown mode", {**WORDS, "mode": "magic"}, "mode"),
    Case("an unknown pipeline", {**WORDS, "pipelineMode": "thumbnail-v3"}, "pipelineMode"),
    Case("prompt mode that detects characters", {**WORDS, "autoDetectCharacters": True}, "autoDetectCharacters"),
    Case(
        "prompt mode that detects content",
        {**WORDS, **PRECISE, "contentReferenceImageUrl": PLATE, "autoDetectContentReferences": True},
        "autoDetectContentReferences",
    ),
    Case("prompt and Precision without content", {**WORDS, **PRECISE}, "contentReferenceImageUrls"),
    Case(
        "prompt and Precision with characters",
        {**WORDS, **PRECISE, "contentReferenceImageUrl": PLATE, "characters": [FIGURE]},
        "characters",
    ),
    Case(
        "prompt and Precision of version 1",
        {**WORDS, **PRECISE, "contentReferenceImageUrl": PLATE, "referenceSchemaVersion": 1},
        "referenceSchemaVersion",
    ),
    Case(
        "prompt and Precision without a version",
        {**WORDS, "pipelineMode": "thumbnail-precision", "contentReferenceImageUrl": PLATE},
        "referenceSchemaVersion",
    ),
    Case(
        "three plates",
        {**WORDS, **PRECISE, "contentReferenceImageUrls": [PLATE, OTHER, f"{PLATE}?3"]},
        "contentReferenceImageUrls",
    ),
    Case(
        "a plate beside two",
        {
            **WORDS,
            **PRECISE,
            "contentReferenceImageUrl": f"{PLATE}?3",
            "contentReferenceImageUrls": [PLATE, OTHER],
        },
        "contentReferenceImageUrls",
    ),
    Case("no plate in a list", {**WORDS, **PRECISE, "contentReferenceImageUrls": []}, "contentReferenceImageUrls"),
    Case("version 3", {**WORDS, "referenceSchemaVersion": 3}, "referenceSchemaVersion"),
    Case("version 0", {**ZERO, "referenceSchemaVersion": 0}, "referenceSchemaVersion"),
    Case(
        "zero-prompt Precision of version 1", {**ZERO, **PRECISE, "referenceSchemaVersion": 1}, "referenceSchemaVersion"
    ),
    Case("zero-prompt Precision with characters", {**ZERO, **PRECISE, "characters": [FIGURE]}, "characters"),
    Case(
        "zero-prompt Precision that detects characters",
        {**ZERO, **PRECISE, "autoDetectCharacters": True},
        "autoDetectCharacters",
    ),
    Case(
        "Precision that detects characters, no mode",
        {**PRECISE, "autoDetectCharacters": True},
        "autoDetectCharacters",
    ),
    Case(
        "Creative that detects content",
        {**ZERO, "autoDetectContentReferences": True},
        "autoDetectContentReferences",
    ),
    Case(
        "Creative that detects content, no mode",
        {"autoDetectContentReferences": True},
        "autoDetectContentReferences",
    ),
    Case("zero-prompt Precision with brandInfluence", {**ZERO, **PRECISE, "brandInfluence": 0.5}, "brandInfluence"),
    Case("fewer characters than counted", {**ZERO, "characterCount": 2, "characters": [FIGURE]}, "characterCount"),
    Case("characters that are not counted", {**ZERO, "characterCount": 0, "characters": [FIGURE]}, "characterCount"),
    Case("characters counted and none given", {**ZERO, "characterCount": 1}, "characterCount"),
    Case("four characters", {**ZERO, "characters": [FIGURE] * 4}, "characters"),
    Case("characterCount 4", {**ZERO, "characterCount": 4}, "characterCount"),
    Case("characterCount -1", {**ZERO, "characterCount": -1}, "characterCount"),
    Case(
        "eleven reference images",
        {**ZERO, "characters": [{"referenceImageIds": [str(number) for number in range(11)]}]},
        "characters.0.referenceImageIds",
    ),
    Case("four image URLs", {**ZERO, "characters": [{"imageUrls": [PLATE] * 4}]}, "characters.0.imageUrls"),
    Case("contentSlotCount 0", {**ZERO, **PRECISE, "contentSlotCount": 0}, "contentSlotCount"),
    Case("contentSlotCount 3", {**ZERO, **PRECISE, "contentSlotCount": 3}, "contentSlotCount"),
    Case(
        "an unknown approval mode for characters",
        {**ZERO, "characterDetectApprovalMode": "later"},
        "characterDetectApprovalMode",
    ),
    Case(
        "an unknown approval mode for content",
        {**ZERO, "contentDetectApprovalMode": "later"},
        "contentDetectApprovalMode",
    ),
    Case("a brand voice id of 129 characters", {**ZERO, "brandVoiceId": "v" * 129}, "brandVoiceId"),
    Case(
        "a language twice",
        {**ZERO, "thumbnailTranslationLanguageCodes": ["pt", "PT"]},
        "thumbnailTranslationLanguageCodes",
    ),
    Case("no language", {**ZERO, "thumbnailTranslationLanguageCodes": ["p"]}, "thumbnailTranslationLanguageCodes.0"),
    Case(
        "an image over http",
        {**WORDS, "styleReferenceImageUrl": "http://a.example.com/x.png"},
        "styleReferenceImageUrl",
    ),
    Case(
        "an image of this machine", {**WORDS, "brandReferenceImageUrl": "file:///etc/passwd"}, "brandReferenceImageUrl"
    ),
    Case("no number", {**WORDS, "brandInfluence": "much"}, "brandInfluence"),
)

TAKEN: Sequence[Case] = (
    Case("a prompt", {"prompt": "A lens"}),
    Case("a prompt with figures", {**WORDS, "characters": [FIGURE], "brandInfluence": 0.4}),
    Case("Precision with a plate", {**WORDS, **PRECISE, "contentReferenceImageUrl": PLATE, "textOverlay": "See"}),
    Case("Precision with two plates", {**WORDS, **PRECISE, "contentReferenceImageUrls": [PLATE, OTHER]}),
    Case(
        "one plate, named both ways",
        {**WORDS, **PRECISE, "contentReferenceImageUrl": PLATE, "contentReferenceImageUrls": [PLATE, OTHER]},
    ),
    Case("no prompt", ZERO),
    Case("figures that are counted", {**ZERO, "characterCount": 1, "characters": [FIGURE]}),
    Case("figures without a count", {**ZERO, "characters": [FIGURE, FIGURE]}),
    Case("zero-prompt Precision", {**ZERO, **PRECISE}),
    Case("without words", {**ZERO, "omitTextOverlay": True}),
    Case("languages without the flag", {**ZERO, "thumbnailTranslationLanguageCodes": ["xx"]}),
    Case("the flag without languages", {**ZERO, "autoTranslateThumbnail": True}),
)
