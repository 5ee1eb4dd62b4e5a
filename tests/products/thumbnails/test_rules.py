"""What a request means where it says little, and what it costs."""

from typing import Any

import pytest

from cutroom.credits.pricing import Action
from cutroom.engines.thumbnails.port import Pipeline
from cutroom.products.thumbnails.rules import Mode, mode_of, parse_options, plates_of, quoted_in
from cutroom.products.thumbnails.service import billed_works


@pytest.mark.parametrize(
    ("plan", "mode"),
    [
        ({}, Mode.PROMPT),
        ({"mode": "zero_prompt"}, Mode.ZERO_PROMPT),
        ({"autoDetectCharacters": True}, Mode.ZERO_PROMPT),
        ({"autoDetectContentReferences": True}, Mode.ZERO_PROMPT),
        ({"autoDetectContentReferences": False}, Mode.PROMPT),
        ({"mode": "prompt", "autoDetectCharacters": True}, Mode.PROMPT),
    ],
)
def test_flags_that_only_a_film_can_answer_imply_its_mode(plan: dict[str, Any], mode: Mode) -> None:
    assert mode_of(plan) is mode


def test_what_is_not_said_stands_at_its_default() -> None:
    wanted = parse_options({"mode": "zero_prompt"})
    assert wanted.pipeline is Pipeline.CREATIVE
    assert (wanted.slots, wanted.languages, wanted.urls) == (1, (), ())
    assert not wanted.detects
    assert not wanted.needs_review


@pytest.mark.parametrize(
    ("plan", "is_reviewed"),
    [
        ({"autoDetectCharacters": True, "characterDetectApprovalMode": "review"}, True),
        ({"autoDetectCharacters": True, "contentDetectApprovalMode": "review"}, False),  # nothing of that is detected
        ({"autoDetectContentReferences": True, "contentDetectApprovalMode": "review"}, True),
        ({"characterDetectApprovalMode": "review"}, False),
    ],
)
def test_only_what_is_detected_is_reviewed(plan: dict[str, Any], *, is_reviewed: bool) -> None:
    assert parse_options(plan).needs_review is is_reviewed


def test_a_plate_that_is_named_twice_is_one() -> None:
    plan = {"contentReferenceImageUrl": "a", "contentReferenceImageUrls": ["b", "a"]}
    assert plates_of(plan) == ("a", "b")


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ('A lens with the words "See more" in red', "See more"),
        ("Ein Bild mit „Mehr sehen“", "Mehr sehen"),
        ("東京の写真に「もっと見る」", "もっと見る"),
        ("It's a lens, isn't it", None),
        ('Nothing in "  " here', None),
        (None, None),
    ],
)
def test_words_in_quotation_marks_are_words_to_be_seen(prompt: str | None, words: str | None) -> None:
    assert quoted_in(prompt) == words


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
def test_what_is_made_is_what_is_billed(plan: dict[str, Any], actions: dict[Action, int]) -> None:
    billed = billed_works(plan)
    assert {action: sum(work.action is action for work in billed) for action in {w.action for w in billed}} == actions


@pytest.mark.parametrize(
    ("plan", "count"),
    [
        ({"mode": "zero_prompt", "characters": [{}, {}]}, 2),
        ({"autoDetectCharacters": True}, 1),
        ({"autoDetectCharacters": True, "characterCount": 3}, 3),
    ],
)
def test_figures_are_billed_by_their_number(plan: dict[str, Any], count: int) -> None:
    [work] = billed_works(plan)
    assert work.terms["characters"] == count
