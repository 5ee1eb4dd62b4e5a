"""Defaults and billing of thumbnail requests."""

from typing import Any

import pytest

from cutroom.credits.pricing import Action
from cutroom.engines.thumbnails.port import Pipeline
from cutroom.products.thumbnails.rules import ThumbnailMode, parse_options, plate_urls_in, quoted_text, resolve_mode
from cutroom.products.thumbnails.service import items_for_plan


@pytest.mark.parametrize(
    ("plan", "mode"),
    [
        ({}, ThumbnailMode.PROMPT),
        ({"mode": "zero_prompt"}, ThumbnailMode.ZERO_PROMPT),
        ({"autoDetectCharacters": True}, ThumbnailMode.ZERO_PROMPT),
        ({"autoDetectContentReferences": True}, ThumbnailMode.ZERO_PROMPT),
        ({"autoDetectContentReferences": False}, ThumbnailMode.PROMPT),
        ({"mode": "prompt", "autoDetectCharacters": True}, ThumbnailMode.PROMPT),
    ],
)
def test_detection_flags_imply_zero_prompt_mode(plan: dict[str, Any], mode: ThumbnailMode) -> None:
    assert resolve_mode(plan) is mode


def test_defaults_are_applied() -> None:
    options = parse_options({"mode": "zero_prompt"})
    assert options.pipeline is Pipeline.CREATIVE
    assert (options.slots, options.languages, options.urls) == (1, (), ())
    assert not options.detects
    assert not options.needs_review


@pytest.mark.parametrize(
    ("plan", "is_reviewed"),
    [
        ({"autoDetectCharacters": True, "characterDetectApprovalMode": "review"}, True),
        ({"autoDetectCharacters": True, "contentDetectApprovalMode": "review"}, False),  # content is not detected
        ({"autoDetectContentReferences": True, "contentDetectApprovalMode": "review"}, True),
        ({"characterDetectApprovalMode": "review"}, False),
    ],
)
def test_review_requires_detection(plan: dict[str, Any], *, is_reviewed: bool) -> None:
    assert parse_options(plan).needs_review is is_reviewed


def test_duplicate_plate_is_counted_once() -> None:
    plan = {"contentReferenceImageUrl": "a", "contentReferenceImageUrls": ["b", "a"]}
    assert plate_urls_in(plan) == ("a", "b")


@pytest.mark.parametrize(
    ("prompt", "headline"),
    [
        ('A lens with the words "See more" in red', "See more"),
        ("Ein Bild mit „Mehr sehen“", "Mehr sehen"),
        ("東京の写真に「もっと見る」", "もっと見る"),
        ("It's a lens, isn't it", None),
        ('Nothing in "  " here', None),
        (None, None),
    ],
)
def test_quoted_text_becomes_the_headline(prompt: str | None, headline: str | None) -> None:
    assert quoted_text(prompt) == headline


@pytest.mark.parametrize(
    ("plan", "actions"),
    [
        ({"prompt": "A lens", "characters": [{}]}, {Action.PROMPT_THUMBNAIL: 1}),
        ({"mode": "zero_prompt"}, {Action.ZERO_PROMPT_THUMBNAIL: 1}),
        (
            {
                "mode": "zero_prompt",
                "autoTranslateThumbnail": True,
                "thumbnailTranslationLanguageCodes": ["pt", "es"],
            },
            {Action.ZERO_PROMPT_THUMBNAIL: 1, Action.THUMBNAIL_TRANSLATE: 2},
        ),
        (
            {"mode": "zero_prompt", "thumbnailTranslationLanguageCodes": ["pt", "es"]},
            {Action.ZERO_PROMPT_THUMBNAIL: 1},
        ),
        (
            {"autoDetectContentReferences": True},
            {Action.ZERO_PROMPT_THUMBNAIL: 1, Action.CONTENT_MOMENT_DETECT: 1},
        ),
    ],
)
def test_billed_actions_follow_the_options(plan: dict[str, Any], actions: dict[Action, int]) -> None:
    billed = items_for_plan(plan)
    assert {action: sum(work.action is action for work in billed) for action in {w.action for w in billed}} == actions


@pytest.mark.parametrize(
    ("plan", "count"),
    [
        ({"mode": "zero_prompt", "characters": [{}, {}]}, 2),
        ({"autoDetectCharacters": True}, 1),
        ({"autoDetectCharacters": True, "characterCount": 3}, 3),
    ],
)
def test_characters_are_billed_by_count(plan: dict[str, Any], count: int) -> None:
    [work] = items_for_plan(plan)
    assert work.terms["characters"] == count
