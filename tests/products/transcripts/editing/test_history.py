"""Revisions as differences, undo and redo against two stacks, comparison, and ids through re-recognition."""

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument, document_of, speaker_rows
from cutroom.products.transcripts.editing.differences import (
    Difference,
    LabelChange,
    apply_difference,
    compare_labels,
    difference_between,
    revert_difference,
)
from cutroom.products.transcripts.editing.history import HistoryLinks, after_change, compare, redo, undo
from cutroom.products.transcripts.editing.identity import keep_ids
from cutroom.products.transcripts.editing.splices import Splice, SpliceMismatchError, apply_splices, splices_between
from cutroom.products.transcripts.editing.splitting import fit_words, split_point, words_within


def segment(at: int, text: str = "") -> DocumentSegment:
    return DocumentSegment(f"s{at}", at * 2.0, at * 2.0 + 1.5, text or f"Text {at}", "speaker_1")


def document(size: int) -> TranscriptDocument:
    return TranscriptDocument(tuple(segment(at) for at in range(size)))


_LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["Ada", "Bo"]))
_DOCUMENTS = st.builds(
    lambda numbers, labels: TranscriptDocument(tuple(segment(at) for at in numbers), labels),
    st.lists(st.integers(0, 12), max_size=12, unique=True),
    _LABELS,
)


@settings(max_examples=200, deadline=None)
@given(_DOCUMENTS, _DOCUMENTS)
def test_differences_lead_forth_and_back_after_json(before: TranscriptDocument, after: TranscriptDocument) -> None:
    columns = json.loads(json.dumps(difference_between(before, after).to_columns()))
    stored = Difference.from_columns(columns)
    assert apply_difference(before, stored) == after
    assert revert_difference(after, stored) == before
    assert bool(stored) == (before != after)


def test_an_edit_of_a_long_transcript_is_a_small_difference() -> None:
    before = document(2_500)
    segments = list(before.segments)
    segments[3], segments[2_400] = replace(segments[3], text="A"), replace(segments[2_400], text="B")
    found = splices_between(before, TranscriptDocument(tuple(segments)))
    assert [each.at for each in found] == [3, 2_400]
    assert len(json.dumps([each.to_row() for each in found])) < 1_000


def test_a_difference_of_another_document_is_refused() -> None:
    with pytest.raises(SpliceMismatchError):
        apply_splices(document(2).segments, [Splice(0, (segment(7),), ())])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["edit", "undo", "redo"]), max_size=40))
def test_undo_and_redo_walk_like_the_two_stacks_of_an_editor(steps: list[str]) -> None:
    contents, links, current = {1: 0}, {1: HistoryLinks()}, 1
    to_redo: list[int] = []
    done = [0]
    for number, step in enumerate(steps, start=1):
        if step == "edit":
            contents[current + 1], links[current + 1] = number, after_change(current)
            done, to_redo = [*done, number], []
        else:
            found = undo(links, current) if step == "undo" else redo(links, current)
            if step == "undo" and len(done) > 1:
                to_redo.append(done.pop())
            elif step == "redo" and to_redo:
                done.append(to_redo.pop())
            else:
                assert found is None
                continue
            assert found is not None
            contents[current + 1], links[current + 1] = contents[found.target], found.links
        current += 1
        assert contents[current] == done[-1]


def test_comparison_lists_changed_added_and_removed_segments() -> None:
    before = document(4)
    after = TranscriptDocument((segment(0), segment(1, "New"), segment(3), segment(9)))
    changes = compare(before, after)
    assert [(each.before and each.before.id, each.after and each.after.id) for each in changes] == [
        ("s1", "s1"),
        ("s2", None),
        (None, "s9"),
    ]
    assert compare(before, before) == []


def test_ids_stay_when_the_same_sound_is_recognized_again() -> None:
    known = [replace(segment(at, f"This is sentence {at} of it"), id=f"k{at}") for at in range(50)]
    known[7] = replace(known[7], deleted=True)
    randomness = random.Random(20)
    again = [
        replace(
            each,
            id="",
            deleted=False,
            start_seconds=each.start_seconds + randomness.uniform(-0.2, 0.2),
            text=each.text.replace("of it", "of"),
        )
        for each in known
    ]
    halves = [
        replace(again[20], end_seconds=40.6, text="This is"),
        replace(again[20], start_seconds=40.7, text="sentence 20 of"),
    ]
    again[20:21] = halves
    added = DocumentSegment("", 200.0, 201.0, "New", "speaker_1")
    found = keep_ids(TranscriptDocument(tuple(known)), TranscriptDocument((*again, added)), new_id=lambda: "new")
    ids = [each.id for each in found.segments]
    assert [each for each in ids if each != "new"] == [each.id for each in known]
    assert ids.count("new") == 2
    assert [each.id for each in found.segments if each.deleted] == ["k7"]


def test_stored_segments_without_ids_get_them_by_position() -> None:
    row = {"start": 0.0, "end": 1.0, "speaker": "a", "text": "x", "deleted": False, "words": 1}
    assert [each.id for each in document_of([row, {**row, "id": "own"}], []).segments] == ["s1", "own"]


WORDS = fit_words("The quick brown fox jumps", 10.0, 15.0, known=())


def test_words_of_edited_text_keep_the_times_of_equal_words() -> None:
    fitted = fit_words("The quick, red fox jumps", 10.0, 15.0, known=WORDS)
    assert [each.text for each in fitted] == ["The", "quick,", "red", "fox", "jumps"]
    assert [each.start_seconds for each in fitted] == [each.start_seconds for each in WORDS]
    assert words_within(WORDS, 10.0, 11.0) == [WORDS[0]]


def test_split_is_between_the_words_on_both_sides() -> None:
    known = [replace(each, end_seconds=each.end_seconds - 0.1) for each in WORDS]
    source = DocumentSegment("a", 10.0, 15.0, "The quick brown fox jumps", "speaker_1")
    for at in (9, 10):  # before and after the space
        found = split_point(source, at, known=known)
        assert (found.end_seconds, found.start_seconds) == (known[1].end_seconds, known[2].start_seconds)
    inside = split_point(source, 12, known=known)
    assert known[2].start_seconds < inside.end_seconds == inside.start_seconds < known[2].end_seconds
    assert split_point(replace(source, text="漢字仮名"), 2, known=()).end_seconds == 12.5


def test_labels_are_compared_and_listed_in_the_order_of_speech() -> None:
    rows = [{"start": at, "end": at + 1.0, "speaker": name, "text": "x"} for at, name in enumerate("ba")]
    before = document_of(rows, [{"id": "a", "label": "Ada"}, {"id": "c", "label": "Cleo"}])
    assert speaker_rows(before) == [
        {"id": "b", "label": "b"},
        {"id": "a", "label": "Ada"},
        {"id": "c", "label": "Cleo"},
    ]
    after = replace(before, labels={"a": "Ada L.", "b": "b", "d": "Dana"})
    assert compare_labels(before, after) == [
        LabelChange("a", "Ada", "Ada L."),
        LabelChange("c", "Cleo", None),
        LabelChange("d", None, "Dana"),
    ]
