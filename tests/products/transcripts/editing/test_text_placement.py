"""Imported texts: every word is put into the segment that it belongs to, and everything else stays."""

import random
import time
from dataclasses import replace
from itertools import count

import pytest

from cutroom.media.subtitles import write_srt, write_vtt
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.products.transcripts.editing.operations import InvalidEditError
from cutroom.products.transcripts.editing.splitting import fit_words
from cutroom.products.transcripts.editing.subtitle_reading import SubtitleFormat, read_subtitles
from cutroom.products.transcripts.editing.text_placement import (
    MAX_IMPORTED_WORDS,
    ImportedLine,
    place_text,
)
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.subtitling.cue_rules import rules_for
from cutroom.products.transcripts.subtitling.cues import make_cues

TALK = [
    "Good morning, and thank you all for coming so early.",
    "The train to the coast leaves at half past ten from platform four, so we have about forty minutes before we go.",
    "Does anybody have a question?",
    "No? Then let us begin with the weather, which will be fine until the evening.",
    "In the evening there may be some rain in the hills.",
]


TREES = ["alder", "birch", "cedar", "elm", "fir", "oak", "pine", "rowan", "yew", "ash"]


def document(texts: list[str] = TALK, *, deleted: frozenset[int] = frozenset()) -> TranscriptDocument:
    segments, at = [], 1.0
    for number, text in enumerate(texts):
        seconds = round(len(text) * 0.06, 3)
        end, speaker = round(at + seconds, 3), f"speaker_{number % 2 + 1}"
        segments.append(DocumentSegment(f"s{number + 1}", at, end, text, speaker, number in deleted))
        at = round(end + 1.0, 3)
    return TranscriptDocument(tuple(segments), {"speaker_1": "Speaker 1", "speaker_2": "Speaker 2"})


def place(
    before: TranscriptDocument, lines: list[ImportedLine], *, language: str = "en", until: float | None = 600.0
) -> TranscriptDocument:
    numbers = count(1)
    return place_text(before, lines, language=language, until_seconds=until, new_id=lambda: f"n{next(numbers)}")


def exported(before: TranscriptDocument, format_: SubtitleFormat, language: str = "en") -> str:
    """The subtitles of a document as the service writes them."""
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
    cues = make_cues(spoken, rules_for(language), until_seconds=600.0).cues
    return write_srt(cues) if format_ is SubtitleFormat.SRT else write_vtt(cues)


def imported(content: str, format_: SubtitleFormat) -> list[ImportedLine]:
    return [
        ImportedLine(each.text, each.start_seconds, each.end_seconds, each.speaker)
        for each in read_subtitles(content, format_)
    ]


def texts(after: TranscriptDocument) -> list[str]:
    return [each.text for each in after.segments]


@pytest.mark.parametrize("format_", [SubtitleFormat.SRT, SubtitleFormat.VTT])
def test_the_export_of_a_transcript_changes_nothing(format_: SubtitleFormat) -> None:
    before = document(deleted=frozenset({2}))
    assert place(before, imported(exported(before, format_), format_)) == before


def test_the_export_of_a_transcript_without_spaces_changes_nothing() -> None:
    before = document(
        [
            "皆さん、おはようございます。",
            "電車は十時半に四番線から出ますので、あと四十分ほどあります。",
            "質問はありますか。",
        ]
    )
    assert (
        place(before, imported(exported(before, SubtitleFormat.SRT, "ja"), SubtitleFormat.SRT), language="ja") == before
    )


def test_corrected_words_stay_in_their_segments() -> None:
    before = document()
    content = exported(before, SubtitleFormat.SRT)
    corrected = (
        content.replace("half past ten", "10:30").replace("Does anybody", "Do you").replace("fine", "rather fine")
    )
    after = place(before, imported(corrected, SubtitleFormat.SRT))
    assert [each.id for each in after.segments] == ["s1", "s2", "s3", "s4", "s5"]
    assert texts(after) == [
        TALK[0],
        TALK[1].replace("half past ten", "10:30"),
        "Do you have a question?",
        TALK[3].replace("fine", "rather fine"),
        TALK[4],
    ]
    assert [(each.start_seconds, each.end_seconds) for each in after.segments] == [
        (each.start_seconds, each.end_seconds) for each in before.segments
    ]


def test_a_script_without_times_gets_those_of_the_recording() -> None:
    script = " ".join(TALK).replace("coming so early", "being here").replace("No? Then", "No. So then")
    after = place(document(), [ImportedLine(script)])
    assert texts(after) == [
        "Good morning, and thank you all for being here.",
        TALK[1],
        TALK[2],
        TALK[3].replace("No? Then", "No. So then"),
        TALK[4],
    ]


def test_words_between_segments_go_to_the_sentence_they_belong_to() -> None:
    script = [TALK[0] + " Welcome.", "And now: " + TALK[1], *TALK[2:]]
    assert texts(place(document(), [ImportedLine(each) for each in script])) == [
        TALK[0] + " Welcome.",
        "And now: " + TALK[1],
        *TALK[2:],
    ]


def test_a_left_out_sentence_is_removed_but_deleted_ones_stay() -> None:
    before = document(deleted=frozenset({0}))
    after = place(before, [ImportedLine(each) for each in (*TALK[1:3], TALK[4])])
    assert [(each.id, each.deleted) for each in after.segments] == [
        ("s1", True),
        ("s2", False),
        ("s3", False),
        ("s5", False),
    ]


def test_speech_that_was_not_recognized_becomes_a_segment() -> None:
    before = document()
    kept = replace(before, segments=(*before.segments[:2], *before.segments[3:]))
    after = place(kept, imported(exported(before, SubtitleFormat.SRT), SubtitleFormat.SRT))
    assert texts(after) == TALK
    assert [each.id for each in after.segments] == ["s1", "s2", "n1", "s4", "s5"]
    assert all(
        left.end_seconds <= right.start_seconds for left, right in zip(after.segments, after.segments[1:], strict=False)
    )


def test_names_of_speakers_are_used() -> None:
    lines = [
        ImportedLine(each.text, each.start_seconds, each.end_seconds, "Ada" if each.id == "s1" else "speaker 2")
        for each in document().segments
    ]
    after = place(document(), lines)
    assert [each.speaker for each in after.segments] == ["speaker_3", *["speaker_2"] * 4]
    assert after.labels == {"speaker_1": "Speaker 1", "speaker_2": "Speaker 2", "speaker_3": "Ada"}


def test_another_text_is_refused_without_times_and_taken_with_them() -> None:
    other = ["Completely different words", "that nothing here resembles", "in any of its lines"]
    with pytest.raises(InvalidEditError, match="8%"):
        place(document(), [ImportedLine(each) for each in other])
    timed = [ImportedLine(each, 2.0 + at, 2.8 + at) for at, each in enumerate(other)]
    after = place(document(), timed)
    assert [(each.text, each.start_seconds, each.end_seconds) for each in after.segments] == [
        (other[0], 2.0, 2.8),
        (other[1], 3.0, 3.8),
        (other[2], 4.0, 4.8),
    ]


def test_an_empty_transcript_takes_subtitles_but_no_script() -> None:
    empty = TranscriptDocument(())
    assert texts(place(empty, [ImportedLine("Hello.", 0.5, 1.0)])) == ["Hello."]
    with pytest.raises(InvalidEditError):
        place(empty, [ImportedLine("Hello.")])


def test_cues_after_the_end_are_left_out() -> None:
    before = document()
    lines = [*imported(exported(before, SubtitleFormat.SRT), SubtitleFormat.SRT), ImportedLine("Late.", 700.0, 701.0)]
    assert place(before, lines) == before
    with pytest.raises(InvalidEditError, match="within the recording"):
        place(before, [ImportedLine("Late.", 700.0, 701.0)])


def test_random_corrections_are_found_where_they_were_made() -> None:
    """Words are replaced, added and left out inside of sentences; segments must become what was written into them."""
    chance, wrong = random.Random("placement"), 0
    for _ in range(200):
        sizes = [chance.randint(6, 14) for _ in range(chance.randint(3, 12))]
        sentences = [f"{' '.join(chance.choices(TREES, k=size)).capitalize()}." for size in sizes]
        before, corrected = document(sentences), []
        for sentence in sentences:
            words = sentence[:-1].split()
            at = chance.randrange(1, len(words) - 1)
            words[at : at + chance.randint(0, 1)] = chance.choice([[], ["Zulu"], ["Zulu", "Yankee"]])
            corrected.append(" ".join(words) + ".")
        after = place(before, [ImportedLine(" ".join(corrected))])
        wrong += texts(after) != corrected
    assert wrong <= 4, "where the same words stand on both sides of an edge, two placements are equally near"


def test_texts_that_are_made_to_be_slow() -> None:
    before = document(["la " * 600] * 30)
    started = time.process_time()
    for text in ("la ", "la ma "):
        with pytest.raises(InvalidEditError, match="2000 characters"):  # after the words were aligned
            place(before, [ImportedLine(text * (MAX_IMPORTED_WORDS // len(text.split()) // 100))] * 100)
    assert time.process_time() - started < 20
    with pytest.raises(InvalidEditError, match="words"):
        place(before, [ImportedLine("la " * (MAX_IMPORTED_WORDS + 1))])
