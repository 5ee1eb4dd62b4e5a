"""Suggested cuts: hesitations and repeated words, with positions that `deleteWords` takes as they are."""

import random
from collections.abc import Sequence
from itertools import count, pairwise

import pytest

from cutroom.products.transcripts.cutting.suggestions import CutSuggestion, suggest_cuts, supported_languages
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.products.transcripts.editing.operation_types import DeleteWords
from cutroom.products.transcripts.editing.operations import EditContext, apply_operations
from cutroom.products.transcripts.editing.splitting import split_point


def suggested(text: str, language: str = "en", *, deleted: bool = False) -> list[CutSuggestion]:
    return suggest_cuts([DocumentSegment("s1", 0.0, 10.0, text, "speaker_1", deleted)], language=language)


def kept_text(text: str, suggestions: Sequence[CutSuggestion]) -> str:
    """What remains after the suggestions were applied by the operation."""
    numbers = count(1)
    context = EditContext(
        "en", 20.0, lambda: f"n{next(numbers)}", lambda segment, at: split_point(segment, at, known=())
    )
    before = TranscriptDocument((DocumentSegment("s1", 0.0, 10.0, text, "speaker_1"),), {"speaker_1": "Speaker 1"})
    operation = DeleteWords("s1", tuple((each.start, each.end) for each in suggestions))
    return " ".join(each.text for each in apply_operations(before, [operation], context).kept)


@pytest.mark.parametrize(
    ("language", "text", "left"),
    [
        ("en", "So, um, we went, uh, home.", "So, we went, home."),
        ("en", "I I think that the train the train is late.", "I think that the train is late."),
        ("en-GB", "We should we should we should go.", "we should go."),
        ("de", "Das ist, ähm, mein mein Hund.", "Das ist, mein Hund."),
        ("pt-BR", "Eu, hum, eu quero ir.", "Eu, eu quero ir."),
        ("fr", "Je je ne sais pas, euh, demain.", "je ne sais pas, demain."),
    ],
)
def test_fillers_and_repeats(language: str, text: str, left: str) -> None:
    assert kept_text(text, suggested(text, language)) == left


@pytest.mark.parametrize(
    "text",
    [
        "I know that that is very very good, no, no.",
        "It is over. Over there is the sea.",
        "Call 2 2 4 4 now.",
        "Um.",
        "An umbrella and a er-minal.",
        "Bora bora is an island of the ha ha kind.",
    ],
)
def test_what_is_meant_stays(text: str) -> None:
    found = [each for each in suggested(text) if each.text.casefold() != "bora"]
    assert found == []


def test_nothing_for_deleted_segments_and_other_languages() -> None:
    assert suggested("So, um, yes.", deleted=True) == []
    assert suggested("So, um, yes.", "ja") == []
    assert "en" in supported_languages()


def test_positions_are_in_order_and_apart() -> None:
    chance = random.Random("suggestions")
    for _ in range(200):
        text = " ".join(chance.choices(["um,", "the", "the", "train", "uh", "is", "late.", "I", "we", "7"], k=12))
        found = suggested(text)
        assert all(text[each.start : each.end].rstrip() == each.text for each in found)
        assert all(left.end <= right.start for left, right in pairwise(found))
        if found:
            cut = sum(len(each.text.split()) for each in found)
            assert len(kept_text(text, found).split()) == 12 - cut
