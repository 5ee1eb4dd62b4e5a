"""What of an optimized script is stale, what voices say, and what making it again keeps."""

from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.products.transcripts.optimizing.script import (
    RULES,
    OptimizedScript,
    ScriptEdit,
    ScriptSegment,
    ScriptStaleReason,
    apply_edits,
    compare_script,
    merge_made,
    removed_segments,
    spoken_document,
    stale_segments,
)


def said(id_: str, text: str, *, deleted: bool = False) -> DocumentSegment:
    at = float(id_.removeprefix("s"))
    return DocumentSegment(id_, at, at + 1, text, "speaker_1", deleted)


def made(id_: str, text: str, source: str) -> ScriptSegment:
    return ScriptSegment(id_, text, source, RULES)


def script(*segments: ScriptSegment, revision: int = 1) -> OptimizedScript:
    return OptimizedScript(revision, {each.id: each for each in segments})


TRANSCRIPT = [said("s1", "Um, one."), said("s2", "Two two."), said("s3", "Um.")]
SCRIPT = script(made("s1", "One.", "Um, one."), made("s2", "Two.", "Two two."), made("s3", "", "Um."))


def test_a_fresh_script_is_what_voices_say() -> None:
    document = spoken_document(TranscriptDocument(tuple(TRANSCRIPT)), SCRIPT)
    assert [(each.id, each.text, each.deleted) for each in document.segments] == [
        ("s1", "One.", False),
        ("s2", "Two.", False),
        ("s3", "Um.", True),
    ]
    assert not any(each.stale for each in compare_script(SCRIPT, TRANSCRIPT))


def test_what_is_stale_is_said_as_the_transcript_has_it() -> None:
    transcript = [said("s1", "Um, one and a half."), said("s3", "Um."), said("s4", "Four.")]
    statuses = compare_script(SCRIPT, transcript)
    assert [(each.id, each.stale, each.spoken_text) for each in statuses] == [
        ("s1", (ScriptStaleReason.SOURCE_CHANGED,), "Um, one and a half."),
        ("s3", (), ""),
        ("s4", (ScriptStaleReason.ADDED,), "Four."),
        ("s2", (ScriptStaleReason.REMOVED,), ""),
    ]


def test_a_text_by_hand_outlives_its_source() -> None:
    sources = {each.id: each for each in TRANSCRIPT}
    edited = apply_edits(SCRIPT, [ScriptEdit("s1", "Number one."), ScriptEdit("s3", "Well.")], sources)
    assert edited.revision == 2
    transcript = [said("s1", "Other words."), *TRANSCRIPT[1:]]
    status = compare_script(edited, transcript)[0]
    assert (status.stale, status.needs_review, status.spoken_text) == ((), True, "Number one.")
    assert stale_segments(edited, transcript) == []
    again = apply_edits(edited, [ScriptEdit("s1", None), ScriptEdit("s3", None)], sources)
    assert again.segments == SCRIPT.segments
    assert apply_edits(again, [ScriptEdit("s1", None)], sources) is again


def test_a_script_can_be_written_by_hand_alone() -> None:
    sources = {each.id: each for each in TRANSCRIPT}
    written = apply_edits(OptimizedScript(), [ScriptEdit("s1", "")], sources)
    assert (written.revision, written.segments["s1"].engine) == (1, None)
    assert [each.spoken_text for each in compare_script(written, TRANSCRIPT)] == ["", "Two two.", "Um."]
    assert apply_edits(written, [ScriptEdit("s1", None)], sources).segments == {}


def test_making_it_again_keeps_what_was_set_meanwhile() -> None:
    transcript = [said("s1", "Uh, one."), *TRANSCRIPT[1:2], said("s5", "Five.")]
    removed = removed_segments(SCRIPT, transcript)
    sources = {each.id: each for each in transcript}
    current = apply_edits(SCRIPT, [ScriptEdit("s1", "By hand."), ScriptEdit("s5", "V.")], sources)
    merged = merge_made(current, [made("s1", "One.", "Uh, one."), made("s5", "Five.", "Five.")], removed)
    assert {each.id: each.text for each in merged.segments.values()} == {"s1": "By hand.", "s2": "Two.", "s5": "V."}
    assert merge_made(merged, [], {}) is merged


texts = st.sampled_from(["", "One.", "Two.", "Um."])
ids = st.sampled_from(["s1", "s2", "s3", "s4"])
segments = st.builds(ScriptSegment, ids, texts, texts, st.just(RULES), st.booleans())


@given(
    st.lists(segments, max_size=6), st.lists(st.tuples(ids, texts, st.booleans()), max_size=4, unique_by=lambda x: x[0])
)
def test_rows_and_documents_keep_everything(stored: list[ScriptSegment], rows: list[tuple[str, str, bool]]) -> None:
    before = script(*stored)
    assert OptimizedScript.from_row(before.to_row()) == before
    document = TranscriptDocument(tuple(said(id_, text or "x", deleted=deleted) for id_, text, deleted in rows))
    spoken = spoken_document(document, before)
    assert [each.id for each in spoken.segments] == [each.id for each in document.segments]
    assert all(each.text for each in spoken.kept)
    assert all(
        after.deleted for before_, after in zip(document.segments, spoken.segments, strict=True) if before_.deleted
    )
