"""What is stale and what a regeneration changes: cases, and random edits against a simple model."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cutroom.products.captions.editing.operations import (
    AcceptSegments,
    Operation,
    ResetSegments,
    SeenTranscript,
    SetText,
    apply_operations,
)
from cutroom.products.captions.editing.rules import (
    StaleReason,
    changed_milliseconds,
    compare_track,
    estimate_seconds,
    merge_update,
    select_stale,
    translation_windows,
    updated_segment,
)
from cutroom.products.captions.editing.segments import CaptionSegment, in_order, match_by_times
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.products.transcripts.editing import operation_types as transcript_edits
from cutroom.products.transcripts.editing.operations import EditContext, InvalidEditError
from cutroom.products.transcripts.editing.operations import apply_operations as edit_transcript
from cutroom.products.transcripts.editing.splitting import split_point

EDITS = 300
Made = tuple[str, float, float, str]  # text, times and speaker that a caption was made from


def spoken(id_: str, start: float, text: str, speaker: str = "a") -> DocumentSegment:
    return DocumentSegment(id_, start, start + 2.0, text, speaker)


def caption_of(segment: DocumentSegment, text: str | None = None) -> CaptionSegment:
    return CaptionSegment(
        segment.id,
        segment.start_seconds,
        segment.end_seconds,
        segment.speaker,
        text or segment.text.upper(),
        segment.text,
        1,
        "fake",
    )


ONE, TWO, THREE = spoken("s1", 0, "One."), spoken("s2", 3, "Two."), spoken("s3", 6, "Three.")
TRACK = [caption_of(each) for each in (ONE, TWO, THREE)]
NEW = caption_of(spoken("s4", 9, "New."), "New.")


def stale_of(transcript: Sequence[DocumentSegment]) -> dict[str, list[str]]:
    return {each.id: [reason.value for reason in each.stale] for each in compare_track(TRACK, transcript) if each.stale}


@pytest.mark.parametrize(
    ("transcript", "stale"),
    [
        ([ONE, TWO, THREE], {}),
        ([ONE, replace(TWO, text="2."), THREE], {"s2": ["sourceChanged"]}),
        ([ONE, replace(TWO, end_seconds=4.5), THREE], {"s2": ["timesChanged"]}),
        ([ONE, replace(TWO, speaker="b"), THREE], {"s2": ["speakerChanged"]}),
        ([ONE, replace(TWO, text="2.", start_seconds=3.1), THREE], {"s2": ["sourceChanged", "timesChanged"]}),
        ([ONE, THREE], {"s2": ["removed"]}),
        ([ONE, TWO, spoken("s4", 5, "New."), THREE], {"s4": ["added"]}),
        ([], {"s1": ["removed"], "s2": ["removed"], "s3": ["removed"]}),
    ],
)
def test_a_segment_is_stale_for_what_has_changed(
    transcript: Sequence[DocumentSegment], stale: dict[str, list[str]]
) -> None:
    assert stale_of(transcript) == stale


def test_removed_segments_stand_where_they_were() -> None:
    assert [each.id for each in compare_track(TRACK, [ONE, THREE])] == ["s1", "s2", "s3"]


def test_only_changed_texts_are_translated_and_paid() -> None:
    transcript = [replace(ONE, text="1."), replace(TWO, end_seconds=4.0), spoken("s4", 9, "New.")]
    stale = select_stale(compare_track(TRACK, transcript), None)
    assert [each.id for each in stale if each.needs_translation] == ["s1", "s4"]
    assert changed_milliseconds(stale) == 4_000
    assert changed_milliseconds(select_stale(compare_track(TRACK, transcript), ["s2", "s3"])) == 0


def test_a_text_by_hand_is_kept_and_reviewed_when_the_source_changes() -> None:
    seen = SeenTranscript(1, {each.id: each for each in (ONE, TWO, THREE)})
    edited = apply_operations({each.id: each for each in TRACK}, [SetText("s2", "Zwei.")], seen)
    changed = replace(TWO, text="2.", end_seconds=4.5)
    [status] = [each for each in compare_track(edited.values(), [ONE, changed, THREE]) if each.stale]
    assert (status.stale, status.needs_review) == ((StaleReason.TIMES_CHANGED,), True)
    updated = updated_segment(status, None, transcript_revision=2)
    assert updated is not None
    assert (updated.text, updated.end_seconds, updated.source) == ("Zwei.", 4.5, "Two.")
    accepted = apply_operations(edited, [AcceptSegments(("s2",))], SeenTranscript(2, {"s2": changed}))
    assert not any(each.needs_review for each in compare_track(accepted.values(), [ONE, changed, THREE]))
    reset = apply_operations(accepted, [ResetSegments(("s2",))], SeenTranscript(2, {"s2": changed}))
    assert (reset["s2"].text, reset["s2"].edited, reset["s2"].source) == ("TWO.", False, "Two.")


def test_a_segment_by_hand_that_was_never_translated_is_reset_to_nothing() -> None:
    seen = SeenTranscript(1, {"s4": spoken("s4", 9, "New.")})
    edited = apply_operations({}, [SetText("s4", "  Neu. ")], seen)
    assert edited["s4"].text == "Neu."
    assert apply_operations(edited, [ResetSegments(("s4",))], seen) == {}


@pytest.mark.parametrize(
    ("operation", "field"),
    [
        (SetText("s9", "Text"), "operations.0.id"),
        (SetText("s1", " "), "operations.0.text"),
        (SetText("s1", "a\x00"), "operations.0.text"),
        (AcceptSegments(("s1", "s9")), "operations.0.ids.1"),
        (ResetSegments(("s9",)), "operations.0.ids.0"),
    ],
)
def test_refused_operations_name_the_field(operation: Operation, field: str) -> None:
    seen = SeenTranscript(1, {each.id: each for each in (ONE, TWO, THREE)})
    with pytest.raises(InvalidEditError) as refused:
        apply_operations({each.id: each for each in TRACK}, [operation], seen)
    assert refused.value.field == field


def test_rows_keep_everything() -> None:
    seen = SeenTranscript(2, {"s1": ONE})
    edited = apply_operations({"s1": replace(TRACK[0], via=("en",), reasons=("name",))}, [SetText("s1", "Eins.")], seen)
    assert CaptionSegment.from_row(edited["s1"].to_row()) == edited["s1"]


def test_segments_of_an_earlier_version_are_matched_by_their_times() -> None:
    rows = [
        {"start": 3.0, "end": 5.0, "speaker": "a", "text": "Dois."},
        {"start": 20.0, "end": 21.0, "speaker": "a", "text": "?"},
    ]
    certain = match_by_times(rows, [ONE, TWO], revision=4, is_certain=True)
    assert [(each.id, each.source, each.transcript_revision) for each in certain] == [
        ("s2", "Two.", 4),
        ("c2", None, None),
    ]
    [status, *_] = compare_track(match_by_times(rows, [ONE, TWO], revision=4, is_certain=False), [TWO])
    assert status.stale == (StaleReason.SOURCE_CHANGED,)


def test_windows_have_context_and_are_one_where_they_touch() -> None:
    windows = translation_windows([0, 3, 20], 22)
    assert [(each.start, each.end, each.wanted) for each in windows] == [(0, 6, (0, 3)), (18, 22, (20,))]


def test_an_edit_during_a_regeneration_is_kept() -> None:
    by_hand = replace(TRACK[0], text="Mine.", edited=True)
    planned: dict[str, CaptionSegment | None] = {"s1": TRACK[0], "s2": TRACK[1], "s3": TRACK[2], "s4": None}
    new: dict[str, CaptionSegment | None] = {
        "s1": replace(TRACK[0], text="A."),
        "s2": replace(TRACK[1], text="B."),
        "s3": None,
        "s4": NEW,
    }
    merged = {each.id: each.text for each in merge_update([by_hand, *TRACK[1:]], planned, new)}
    assert merged == {"s1": "Mine.", "s2": "B.", "s4": "New."}


@pytest.mark.parametrize(
    ("lines", "measured", "seconds"), [(0, 9.0, 0.0), (10, 0.5, 5.0), (1, 0.01, 1.0), (10, None, 8.0)]
)
def test_estimate(lines: int, measured: float | None, seconds: float) -> None:
    assert estimate_seconds(lines, line_seconds=measured) == seconds


class Editor:
    """Random edits of a transcript, regenerations and texts by hand, with a simple model of the captions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.document = TranscriptDocument(
            tuple(spoken(f"s{at + 1}", at * 3.0, f"Sentence {at}.") for at in range(20)), {"a": "A"}
        )
        self.track = [caption_of(each) for each in self.document.kept]
        self.model: dict[str, tuple[Made, str, bool]] = {
            each.id: (made_of(each), each.text.upper(), False) for each in self.document.kept
        }
        self.stale_wrong = self.kept_wrong = self.edits = 0

    def edit_transcript(self) -> None:
        pick, kept = self.random, self.document.kept
        segment = pick.choice(kept) if kept else None
        found: transcript_edits.Operation
        end = max((each.end_seconds for each in self.document.segments), default=0.0)
        if segment is None:
            found = transcript_edits.InsertSegment(end + 1, end + 2, "Again.", "a")
        else:
            at = self.document.positions[segment.id]
            after = self.document.segments[at + 1 : at + 2]
            merged = (segment.id, *(each.id for each in after))
            choices: list[transcript_edits.Operation] = [
                transcript_edits.ReplaceText(segment.id, f"Text {pick.randrange(4)}."),
                transcript_edits.SplitSegment(segment.id, max(1, len(segment.text) // 2)),
                transcript_edits.MergeSegments(merged),
                transcript_edits.SetSpeaker((segment.id,), pick.choice("ab")),
                transcript_edits.SetTimes(
                    segment.id, segment.start_seconds, segment.end_seconds - pick.choice([0.0, 0.1])
                ),
                transcript_edits.DeleteSegments((segment.id,)),
                transcript_edits.RestoreSegments((pick.choice(self.document.segments).id,)),
                transcript_edits.InsertSegment(end + 0.5, end + 1.5, "Inserted.", "a"),
            ]
            found = pick.choice(choices)
        context = EditContext("en", None, self.new_id, lambda each, at: split_point(each, at, known=()))
        try:
            self.document = edit_transcript(self.document, [found], context)
        except InvalidEditError:
            return
        self.edits += 1

    def new_id(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def edit_by_hand(self) -> None:
        kept = self.document.kept
        if kept:
            segment = self.random.choice(kept)
            text = f"By hand {self.random.random()}"
            seen = SeenTranscript(1, {each.id: each for each in kept})
            by_id = {each.id: each for each in self.track}
            self.track = list(apply_operations(by_id, [SetText(segment.id, text)], seen).values())
            made = self.model[segment.id][0] if segment.id in self.model else made_of(segment)
            self.model[segment.id] = ((segment.text, *made[1:]), text, True)

    def regenerate(self) -> None:
        """All of what is stale, or some of it."""
        statuses = compare_track(self.track, self.document.kept)
        ids = None if self.random.random() < 0.5 else {each.id for each in statuses if self.random.random() < 0.5}
        before = {each.id: each for each in self.track}
        selected = select_stale(statuses, ids)
        updated = {
            each.id: updated_segment(each, caption_of(each.source) if each.source else None, transcript_revision=2)
            for each in selected
        }
        planned = {each.id: each.caption for each in selected}
        self.track = list(in_order(merge_update(self.track, planned, updated)))
        after = {each.id: each for each in self.track}
        self.kept_wrong += sum(after.get(id_) != each for id_, each in before.items() if id_ not in updated)
        current = {each.id: each for each in self.document.kept}
        for id_ in updated:
            if id_ not in current:
                del self.model[id_]
                continue
            made = made_of(current[id_])
            old = self.model.get(id_)
            if old is not None and (old[2] or old[0][0] == made[0]):
                self.model[id_] = ((old[0][0], *made[1:]), old[1], old[2])
            else:
                self.model[id_] = (made, made[0].upper(), False)

    def check(self) -> None:
        current = {each.id: made_of(each) for each in self.document.kept}
        expected = {}
        for id_ in current.keys() | self.model.keys():
            if id_ not in self.model:
                expected[id_] = ({"added"}, False)
            elif id_ not in current:
                expected[id_] = ({"removed"}, False)
            else:
                made, _, by_hand = self.model[id_]
                differs = {
                    "sourceChanged": made[0] != current[id_][0] and not by_hand,
                    "timesChanged": made[1:3] != current[id_][1:3],
                    "speakerChanged": made[3] != current[id_][3],
                }
                expected[id_] = (
                    {each for each, applies in differs.items() if applies},
                    made[0] != current[id_][0] and by_hand,
                )
        found = {
            each.id: ({reason.value for reason in each.stale}, each.needs_review)
            for each in compare_track(self.track, self.document.kept)
        }
        self.stale_wrong += sum(found.get(id_) != each for id_, each in expected.items()) + len(found.keys() - expected)
        texts = {each.id: (each.text, each.edited) for each in self.track}
        self.stale_wrong += texts != {id_: (text, by_hand) for id_, (_, text, by_hand) in self.model.items()}


def made_of(segment: DocumentSegment) -> Made:
    return segment.text, segment.start_seconds, segment.end_seconds, segment.speaker


@pytest.mark.parametrize("seed", range(4))
def test_random_edits_are_stale_as_a_simple_model_says(seed: int) -> None:
    editor = Editor(seed)
    while editor.edits < EDITS:
        editor.edit_transcript()
        if editor.random.random() < 0.1:
            editor.edit_by_hand()
        if editor.random.random() < 0.1:
            editor.regenerate()
        editor.check()
    assert (editor.stale_wrong, editor.kept_wrong) == (0, 0)
