"""Edit operations: what each does, what it refuses, and random sequences against a simple model."""

import math
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.products.transcripts.editing import operations as ops
from cutroom.products.transcripts.editing.operation_types import (
    DeleteSegments,
    DeleteWords,
    InsertSegment,
    MergeSegments,
    MergeSpeakers,
    Operation,
    RenameSpeaker,
    ReplaceText,
    RestoreSegments,
    SetSpeaker,
    SetTimes,
    SplitSegment,
)
from cutroom.products.transcripts.editing.operations import EditContext, InvalidEditError, apply_operations
from cutroom.products.transcripts.editing.splitting import split_point

DURATION = 60.0


def context(*, duration: float | None = DURATION) -> EditContext:
    numbers = count(1)
    return EditContext(
        "en", duration, lambda: f"n{next(numbers)}", lambda segment, at: split_point(segment, at, known=())
    )


def document(size: int = 3) -> TranscriptDocument:
    return TranscriptDocument(
        tuple(
            DocumentSegment(f"s{at}", at * 2.0, at * 2.0 + 1.5, f"Sentence number {at}.", "speaker_1")
            for at in range(size)
        ),
        {"speaker_1": "Speaker 1"},
    )


def texts(edited: TranscriptDocument) -> list[str]:
    return [segment.text for segment in edited.segments]


def test_text_is_replaced_on_one_line() -> None:
    edited = apply_operations(document(), [ReplaceText("s1", "  New\n text\t here. ")], context())
    assert texts(edited) == ["Sentence number 0.", "New text here.", "Sentence number 2."]


def test_split_and_merge_keep_the_id_of_the_first() -> None:
    split = apply_operations(document(), [SplitSegment("s1", 9)], context())
    assert [(each.id, each.text) for each in split.segments[1:3]] == [("s1", "Sentence"), ("n1", "number 1.")]
    assert split.segments[1].end_seconds <= split.segments[2].start_seconds
    merged = apply_operations(split, [MergeSegments(("s1", "n1"))], context())
    assert merged == document()


def test_split_at_given_seconds() -> None:
    split = apply_operations(document(), [SplitSegment("s1", 9, 3.25)], context())
    assert [(each.start_seconds, each.end_seconds) for each in split.segments[1:3]] == [(2.0, 3.25), (3.25, 3.5)]


def test_speakers_are_renamed_and_merged() -> None:
    two = apply_operations(document(), [SetSpeaker(("s1",), "speaker_2")], context())
    assert two.labels == {"speaker_1": "Speaker 1", "speaker_2": "Speaker 2"}
    renamed = apply_operations(two, [RenameSpeaker("speaker_2", "  Ada\n Lovelace ")], context())
    assert renamed.labels == {"speaker_1": "Speaker 1", "speaker_2": "Ada Lovelace"}
    assert renamed.segments == two.segments
    merged = apply_operations(renamed, [MergeSpeakers(("speaker_1", "speaker_2"), "speaker_2")], context())
    assert merged.labels == {"speaker_2": "Ada Lovelace"}
    assert {each.speaker for each in merged.segments} == {"speaker_2"}
    into_another = apply_operations(renamed, [MergeSpeakers(("speaker_1", "speaker_2"), "guest")], context())
    assert into_another.labels == {"guest": "guest"}


def test_delete_restore_speaker_and_times() -> None:
    changes: list[Operation] = [
        DeleteSegments(("s0", "s1")),
        RestoreSegments(("s1",)),
        SetSpeaker(("s2",), "guest"),
        SetTimes("s1", 1.6, 3.9),
    ]
    edited = apply_operations(document(), changes, context())
    assert [each.deleted for each in edited.segments] == [True, False, False]
    assert [each.speaker for each in edited.segments] == ["speaker_1", "speaker_1", "guest"]
    assert (edited.segments[1].start_seconds, edited.segments[1].end_seconds) == (1.6, 3.9)


def test_deleted_words_are_segments_of_their_own() -> None:
    cut = apply_operations(document(), [DeleteWords("s1", ((0, 9), (16, 18)))], context())
    assert [(each.id, each.text, each.deleted) for each in cut.segments[1:-1]] == [
        ("s1", "Sentence", True),
        ("n2", "number", False),
        ("n1", "1.", True),
    ]
    whole = apply_operations(document(), [DeleteWords("s1", ((0, 18),))], context())
    assert [(each.id, each.deleted) for each in whole.segments] == [("s0", False), ("s1", True), ("s2", False)]


def test_insert_finds_its_place() -> None:
    changes: list[Operation] = [
        InsertSegment(1.6, 1.9, "Between.", "speaker_1"),
        InsertSegment(50.0, 51.0, "Last.", "speaker_2"),
    ]
    edited = apply_operations(document(), changes, context())
    assert [each.id for each in edited.segments] == ["s0", "n1", "s1", "s2", "n2"]


@pytest.mark.parametrize(
    ("operation", "field"),
    [
        (ReplaceText("unknown", "x"), "id"),
        (ReplaceText("s1", " \n "), "text"),
        (ReplaceText("s1", "bell\x07"), "text"),
        (ReplaceText("s1", "nul\x00"), "text"),
        (ReplaceText("s1", "\ud800"), "text"),
        (ReplaceText("s1", "x" * (ops.MAX_TEXT + 1)), "text"),
        (SplitSegment("s1", 0), "at"),
        (SplitSegment("s1", -3), "at"),
        (SplitSegment("s1", 99), "at"),
        (SplitSegment("s1", 9, math.nan), "seconds"),
        (SplitSegment("s1", 9, 2.0), "seconds"),
        (SplitSegment("s1", 9, 30.0), "seconds"),
        (MergeSegments(("s0",)), "ids"),
        (MergeSegments(("s0", "s2")), "ids"),
        (MergeSegments(("s0", "s0")), "ids"),
        (MergeSegments(("s0", "unknown")), "ids.1"),
        (SetSpeaker((), "speaker_1"), "ids"),
        (SetSpeaker(("s0",), "a b"), "speaker"),
        (SetSpeaker(("s0",), ""), "speaker"),
        (SetTimes("s1", -1.0, 3.0), "start"),
        (SetTimes("s1", 3.0, 3.0), "end"),
        (SetTimes("s1", 3.0, 2.5), "end"),
        (SetTimes("s1", math.nan, 3.0), "start"),
        (SetTimes("s1", 2.0, math.inf), "end"),
        (SetTimes("s1", 1.0, 3.0), "start"),
        (SetTimes("s1", 2.0, 4.2), "end"),
        (SetTimes("s2", 4.0, 60.5), "end"),
        (RenameSpeaker("speaker_9", "Ada"), "speaker"),
        (RenameSpeaker("speaker_1", " "), "label"),
        (RenameSpeaker("speaker_1", "a\x00"), "label"),
        (RenameSpeaker("speaker_1", "a" * (ops.MAX_LABEL + 1)), "label"),
        (MergeSpeakers((), "speaker_1"), "speakers"),
        (MergeSpeakers(("speaker_1", "speaker_9"), "speaker_1"), "speakers.1"),
        (MergeSpeakers(("speaker_1",), "a b"), "into"),
        (InsertSegment(0.5, 0.7, "x", "speaker_1"), "start"),
        (InsertSegment(1.6, 2.5, "x", "speaker_1"), "end"),
        (InsertSegment(59.0, 61.0, "x", "speaker_1"), "end"),
        (InsertSegment(10.0, 11.0, "", "speaker_1"), "text"),
        (DeleteWords("unknown", ((0, 8),)), "id"),
        (DeleteWords("s1", ()), "ranges"),
        (DeleteWords("s1", ((8, 8),)), "ranges.0"),
        (DeleteWords("s1", ((8, 9),)), "ranges.0"),
        (DeleteWords("s1", ((0, 3),)), "ranges.0"),
        (DeleteWords("s1", ((0, 8), (0, 15))), "ranges.0"),
        (DeleteWords("s1", ((9, 99),)), "ranges.0"),
    ],
)
def test_refused_operations_name_the_field(operation: Operation, field: str) -> None:
    with pytest.raises(InvalidEditError) as caught:
        apply_operations(document(), [DeleteSegments(("s0",)), operation], context())
    assert caught.value.field == f"operations.1.{field}"


def test_deleted_and_other_segments_are_not_merged() -> None:
    with pytest.raises(InvalidEditError):
        apply_operations(document(), [DeleteSegments(("s0",)), MergeSegments(("s0", "s1"))], context())


def test_bounds() -> None:
    with pytest.raises(InvalidEditError):
        apply_operations(document(), [DeleteSegments(("s0",))] * (ops.MAX_OPERATIONS + 1), context())
    full = TranscriptDocument(
        tuple(DocumentSegment(f"s{at}", at, at + 1.0, "two words", "a") for at in range(ops.MAX_SEGMENTS))
    )
    with pytest.raises(InvalidEditError):
        apply_operations(full, [SplitSegment("s5", 3)], context(duration=None))
    speakers: list[Operation] = [SetSpeaker(("s0",), f"p{at}") for at in range(ops.MAX_SPEAKERS + 1)]
    with pytest.raises(InvalidEditError):
        apply_operations(document(), speakers, context())


_TEXT = st.text(st.characters(codec="utf-8"), min_size=0, max_size=20)
_SECONDS = st.floats(-1.0, 70.0) | st.just(math.nan)
_SPEAKER = st.sampled_from(["speaker_1", "b", "c"])


@st.composite
def random_operation(draw: st.DrawFn) -> Operation:
    segment_id = st.sampled_from([*(f"s{at}" for at in range(6)), *(f"n{at}" for at in range(1, 9))])
    segment_ids = st.lists(segment_id, max_size=3).map(tuple)
    operation: Operation = draw(
        st.one_of(
            st.builds(ReplaceText, segment_id, _TEXT),
            st.builds(SplitSegment, segment_id, st.integers(-1, 25), st.none() | _SECONDS),
            st.builds(MergeSegments, segment_ids),
            st.builds(SetSpeaker, segment_ids, st.sampled_from(["speaker_1", "b", "not one"])),
            st.builds(RenameSpeaker, st.sampled_from(["speaker_1", "b"]), _TEXT),
            st.builds(MergeSpeakers, st.lists(_SPEAKER, max_size=2).map(tuple), _SPEAKER),
            st.builds(SetTimes, segment_id, _SECONDS, _SECONDS),
            st.builds(DeleteSegments, segment_ids),
            st.builds(RestoreSegments, segment_ids),
            st.builds(InsertSegment, _SECONDS, _SECONDS, _TEXT, _SPEAKER),
            st.builds(DeleteWords, segment_id, st.lists(st.tuples(_AT, _AT), max_size=3).map(tuple)),
        )
    )
    return operation


_AT = st.integers(-1, 20)
Model = dict[str, tuple[str, str, bool]]  # by id: text without spaces, speaker, deleted; order is checked by times


def modeled(edited: TranscriptDocument) -> Model:
    return {each.id: ("".join(each.text.split()), each.speaker, each.deleted) for each in edited.segments}


def predict(model: Model, operation: Operation, edited: TranscriptDocument) -> Model:
    """What an accepted operation does to the model."""
    after = dict(model)
    match operation:
        case ReplaceText(segment_id, text):
            after[segment_id] = ("".join(text.split()), *model[segment_id][1:])
        case SplitSegment(segment_id) | DeleteWords(segment_id):
            parts = [each for each in edited.segments if each.id == segment_id or each.id not in model]
            assert "".join("".join(each.text.split()) for each in parts) == model[segment_id][0]
            assert {each.deleted for each in parts} <= {model[segment_id][2], isinstance(operation, DeleteWords)}
            after |= {each.id: ("".join(each.text.split()), model[segment_id][1], each.deleted) for each in parts}
        case MergeSegments(segment_ids):
            order = [each for each in model if each in segment_ids]
            merged = "".join(model[each][0] for each in order)
            for each in order[1:]:
                del after[each]
            after[order[0]] = (merged, *model[order[0]][1:])
        case SetSpeaker(segment_ids, speaker):
            after |= {each: (model[each][0], speaker, model[each][2]) for each in segment_ids}
        case DeleteSegments(segment_ids) | RestoreSegments(segment_ids):
            deleted = isinstance(operation, DeleteSegments)
            after |= {each: (*model[each][:2], deleted) for each in segment_ids}
        case InsertSegment(_, _, text, speaker):
            added = next(each for each in edited.segments if each.id not in model)
            after[added.id] = ("".join(text.split()), speaker, False)
        case MergeSpeakers(speakers, into):
            after |= {each: (row[0], into, row[2]) for each, row in model.items() if row[1] in speakers}
        case SetTimes() | RenameSpeaker():
            pass
    return after


@settings(max_examples=150, deadline=None)
@given(st.lists(random_operation(), max_size=25))
def test_random_edits_do_what_a_simple_model_says(operations: list[Operation]) -> None:
    edited, shared = document(5), context()
    for operation in operations:
        before = modeled(edited)
        try:
            edited = apply_operations(edited, [operation], shared)
        except InvalidEditError:
            continue
        assert modeled(edited) == predict(before, operation, edited)
        for first, second in zip(edited.segments, edited.segments[1:], strict=False):
            assert 0 <= first.start_seconds < first.end_seconds <= second.start_seconds
        assert edited.segments[-1].start_seconds < edited.segments[-1].end_seconds <= DURATION
        assert len(edited.positions) == len(edited.segments)
