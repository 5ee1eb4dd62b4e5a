"""What was exported changes nothing when it is imported again: random documents with hostile texts and names."""

from itertools import count

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cutroom.media.subtitle_formats.ttml import write_ttml
from cutroom.media.subtitles import SubtitleCue, write_srt, write_vtt
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.captions.importing.line_placement import place_lines
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument, shown_names
from cutroom.products.transcripts.editing.operations import checked_text
from cutroom.products.transcripts.editing.schemas import ImportedText, ImportFormat
from cutroom.products.transcripts.editing.splitting import fit_words
from cutroom.products.transcripts.editing.text_placement import ImportedLine, place_text
from cutroom.products.transcripts.script_text import write_script
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.subtitling.cue_rules import rules_for
from cutroom.products.transcripts.subtitling.cues import make_cues

UNTIL = 6_000.0
WORDS = (
    "the",
    "the",
    "um,",
    "10:30",
    "Ada:",
    "No.",
    "[applause]",
    "(laughs)",
    "-",
    "—",
    "♪",
    "<b>bold</b>",
    "&amp;",
    "</span></p>",
    "]]>",
    "{\\an8}",
    "\\N",
    "-->",
    "00:00:01,000",
    "7",
    "WEBVTT",
    "don\u2019t",
    "e\u0301",
    "\U0001f468\u200d\U0001f4bb",
    "שלום",
    "مرحبا،",
    '"quoted"',
)
PLAIN = tuple(word for word in WORDS if word.isalpha() or word in {"um,", "No.", "don\u2019t"})
NAMES = (
    "Ada",
    "ada",
    "speaker_2",
    "Speaker 1",
    "Bob & <Co>",
    "No:",
    "a: b",
    " padded ",
    "\u202ebidi\u202c",
    "שירה",
    "",
)


def documents(words: tuple[str, ...]) -> st.SearchStrategy[TranscriptDocument]:
    texts = st.lists(st.sampled_from(words), min_size=1, max_size=30).map(" ".join)
    segment = st.tuples(texts, st.integers(1, 3), st.booleans(), st.sampled_from([0.0, 0.4, 3.0, 40.0]))
    labels = st.tuples(*[st.sampled_from(NAMES)] * 3)
    return st.builds(document, st.lists(segment, min_size=1, max_size=12), labels)


def document(rows: list[tuple[str, int, bool, float]], labels: tuple[str, ...]) -> TranscriptDocument:
    segments, at = [], 1.0
    for number, (text, speaker, deleted, pause) in enumerate(rows):
        end = round(at + max(0.3, 0.06 * len(text)), 3)
        segments.append(DocumentSegment(f"s{number}", at, end, checked_text(text), f"speaker_{speaker}", deleted))
        at = round(end + pause, 3)
    return TranscriptDocument(tuple(segments), {f"speaker_{at}": name for at, name in enumerate(labels, 1)})


def cues_of(before: TranscriptDocument, language: str) -> list[SubtitleCue]:
    spoken = [
        TranscriptSegment(
            each.start_seconds,
            each.end_seconds,
            each.speaker,
            each.text,
            tuple(fit_words(each.text, each.start_seconds, each.end_seconds, known=())),
        )
        for each in before.kept
    ]
    return list(make_cues(spoken, rules_for(language), until_seconds=UNTIL).cues)


def lines_of(before: TranscriptDocument, format_: ImportFormat, language: str = "en") -> list[ImportedLine]:
    cues, names = cues_of(before, language), shown_names(before.labels)
    content = {
        ImportFormat.SRT: write_srt(cues),
        ImportFormat.VTT: write_vtt(cues),
        ImportFormat.TTML: write_ttml(cues, language=language, names=names),
        ImportFormat.TEXT: write_script(cues, language=language, names=names),
    }[format_]
    return ImportedText(format=format_, content=content).lines()


def placed(before: TranscriptDocument, format_: ImportFormat) -> TranscriptDocument:
    numbers = count(1)
    lines = lines_of(before, format_)
    return place_text(before, lines, language="en", until_seconds=UNTIL, new_id=lambda: f"n{next(numbers)}")


@pytest.mark.parametrize("format_", [ImportFormat.TTML, ImportFormat.TEXT])
@given(before=documents(WORDS))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_export_of_a_transcript_changes_nothing(format_: ImportFormat, before: TranscriptDocument) -> None:
    assume(before.kept)
    assert placed(before, format_) == before


@pytest.mark.parametrize("format_", [ImportFormat.SRT, ImportFormat.VTT])
@given(before=documents(PLAIN))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_subtitles_of_ordinary_words_change_nothing(format_: ImportFormat, before: TranscriptDocument) -> None:
    assume(before.kept)
    assert placed(before, format_) == before


@pytest.mark.parametrize("format_", [ImportFormat.TTML, ImportFormat.TEXT])
@given(before=documents(WORDS))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_export_of_captions_changes_nothing(format_: ImportFormat, before: TranscriptDocument) -> None:
    assume(before.kept)
    captions = {
        each.id: CaptionSegment(
            each.id, each.start_seconds, each.end_seconds, each.speaker, each.text, source="", transcript_revision=1
        )
        for each in before.kept
    }
    found = place_lines(lines_of(before, format_), before.kept, captions, language="en")
    assert found.texts == {each.id: each.text for each in before.kept}
    assert found.unplaced == 0


@pytest.mark.parametrize("format_", list(ImportFormat))
def test_lines_of_a_language_without_spaces_are_joined_without_them(format_: ImportFormat) -> None:
    """In a text of a language with spaces, a line that ends between two of its characters would get one."""
    before = document([("我们明天早上在车站见面。" * 6, 1, False, 0.4), ("好的。", 2, False, 3.0)], NAMES[:3])
    lines = lines_of(before, format_, "zh")
    assert place_text(before, lines, language="zh", until_seconds=UNTIL, new_id=lambda: "new") == before


def test_a_script_has_names_and_paragraphs() -> None:
    before = document(
        [
            ("Shall we begin?", 1, False, 0.4),
            ("Yes.", 1, False, 3.0),
            ("Then let us.", 1, False, 0.4),
            ("No: wait.", 2, False, 0.4),
        ],
        ("Ada", "Bob", "Bob"),
    )
    script = write_script(cues_of(before, "en"), language="en", names=shown_names(before.labels))
    assert script == "Ada:\nShall we begin? Yes.\n\nThen let us.\n\nspeaker_2:\nNo: wait.\n"


def test_names_in_a_script_are_those_of_speakers_and_others_are_added() -> None:
    before = document([("Shall we begin?", 1, False, 0.4), ("Then let us.", 2, False, 0.4)], ("Ada", "Bob", "Eve"))
    script = "bob:\nShall we begin?\n\nGrace:\nThen let us.\n"
    lines = ImportedText(format=ImportFormat.TEXT, content=script).lines()
    after = place_text(before, lines, language="en", until_seconds=UNTIL, new_id=str)
    assert [each.speaker for each in after.segments] == ["speaker_2", "speaker_4"]
    assert after.labels["speaker_4"] == "Grace"


def test_a_text_that_begins_without_a_name_has_none() -> None:
    lines = ImportedText(format=ImportFormat.TEXT, content="Shall we begin?\n\nHe said:\nthen let us.\n").lines()
    assert [(each.text, each.speaker) for each in lines] == [("Shall we begin?", None), ("He said: then let us.", None)]
