"""Random transcripts, dubs of them, and edits of both."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cutroom.products.dubs.editing.lines import DesiredLine, LineEdits, PublishedLine, SourceLine
from cutroom.products.dubs.editing.redub_lines import RedubLine, republished, script_lines
from cutroom.products.dubs.phrasing import MAX_LINE_SECONDS
from cutroom.products.dubs.script import AssignedVoice, DubLine, LineSchedule, PlacedLine, SourceSegment
from cutroom.products.dubs.script_lines import line_id
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.products.transcripts.editing.operation_types import (
    DeleteSegments,
    DeleteWords,
    InsertSegment,
    MergeSegments,
    Operation,
    ReplaceText,
    RestoreSegments,
    SetSpeaker,
    SetTimes,
    SplitSegment,
)
from cutroom.products.transcripts.editing.operations import EditContext, InvalidEditError, apply_operations
from cutroom.products.transcripts.editing.splitting import SplitPoint, split_point
from cutroom.text.glossary.terms import Glossary

UNTIL = 400.0
VOICE = AssignedVoice("kokoro", "pf_dora")


def random_document(rng: random.Random, count: int = 14) -> TranscriptDocument:
    """Segments of two speakers, some close together."""
    segments, at = [], 1.0
    for number in range(1, count + 1):
        seconds = round(rng.uniform(1, 4), 3)
        speaker = rng.choice(("speaker_1", "speaker_1", "speaker_2"))
        segments.append(DocumentSegment(f"s{number}", round(at, 3), round(at + seconds, 3), words(rng), speaker))
        at += seconds + rng.choice((0.1, 0.6, 4.0))
    return TranscriptDocument(tuple(segments), {"speaker_1": "One", "speaker_2": "Two"})


def words(rng: random.Random) -> str:
    return " ".join(rng.choice(("sun", "moon", "train", "river", "stone")) for _ in range(rng.randint(2, 6))) + "."


def random_dub(rng: random.Random, document: TranscriptDocument) -> list[PublishedLine]:
    """Lines of one or two segments of a speaker."""
    lines: list[PublishedLine] = []
    segments = list(document.kept)
    while segments:
        own = [segments.pop(0)]
        fits = segments and segments[0].end_seconds - own[0].start_seconds <= MAX_LINE_SECONDS
        if fits and segments[0].speaker == own[0].speaker and rng.random() < 0.4:
            own.append(segments.pop(0))
        lines.append(published_line(len(lines), own))
    return lines


def published_line(number: int, segments: Sequence[DocumentSegment]) -> PublishedLine:
    ids = tuple(each.id for each in segments)
    text = " ".join(each.text for each in segments)
    start, end = segments[0].start_seconds, segments[-1].end_seconds
    source = SourceLine(line_id(ids), ids, start, end, segments[0].speaker, text)
    said = tuple(
        SourceSegment(each.id, each.start_seconds, each.end_seconds, each.speaker, each.text) for each in segments
    )
    line = DubLine(number, start, end, end, source.speaker, text, (text.upper(),), id=source.id, segments=said)
    placed = PlacedLine(number, f"key-{source.id}", start, end - start, 1.0, text.upper(), shortened=False, gain=1.0)
    inputs = DesiredLine(source).inputs
    return PublishedLine(source, inputs, line, placed, VOICE, text, (text.upper(),), source.text_fingerprint)


def random_operation(rng: random.Random, document: TranscriptDocument) -> Operation:
    at = rng.randrange(len(document.segments))
    segment = document.segments[at]
    following = document.segments[at + 1] if at + 1 < len(document.segments) else segment
    middle = round((segment.start_seconds + segment.end_seconds) / 2, 3)
    operations: list[Operation] = [
        ReplaceText(segment.id, words(rng)),
        DeleteSegments((segment.id,)),
        DeleteWords(segment.id, (rng.choice(word_ranges(segment.text)),)),
        RestoreSegments((segment.id,)),
        SetSpeaker((segment.id,), rng.choice(("speaker_1", "speaker_2"))),
        SetTimes(segment.id, segment.start_seconds, round(segment.end_seconds - 0.2, 3)),
        SplitSegment(segment.id, max(1, segment.text.find(" ") + 1), middle),
        MergeSegments((segment.id, following.id)),
        InsertSegment(segment.end_seconds, round(segment.end_seconds + 0.05, 3), words(rng), "speaker_1"),
    ]
    return rng.choice(operations)


def word_ranges(text: str) -> list[tuple[int, int]]:
    """Where each word begins and ends."""
    return [found.span() for found in re.finditer(r"\S+", text)]


def edited(rng: random.Random, document: TranscriptDocument, ids: list[str]) -> TranscriptDocument:
    """The document after one operation that can be applied."""
    context = EditContext("en", UNTIL, new_id=ids.pop, split_point=estimated_split_point)
    while True:
        try:
            return apply_operations(document, [random_operation(rng, document)], context)
        except InvalidEditError:
            continue


def estimated_split_point(segment: DocumentSegment, at: int) -> SplitPoint:
    return split_point(segment, at, known=())


def random_edit(rng: random.Random, edits: LineEdits, source: SourceLine) -> LineEdits:
    values: list[dict[str, Any]] = [
        {"text": words(rng), "edited_source": source.text_fingerprint},
        {"text": None, "edited_source": None},
        {"voice": "v1"},
        {"speed": 1.1},
        {"start_offset": 0.3},
        {"gain_db": rng.choice((-3.0, 2.0, None))},
        {"mute": rng.choice((True, None))},
        {"keep_original": rng.choice((True, None))},
        {"pronunciation": rng.choice(({"Asterisk": "Aster isk"}, None))},
    ]
    return replace(edits, **rng.choice(values))


def made(lines: Sequence[RedubLine], document: TranscriptDocument) -> list[PublishedLine]:
    """What a regeneration publishes, with a voice that needs exactly the time of the original."""
    translated = [
        replace(each, translation=(each.source.text.upper(),), translated=each.source.text_fingerprint)
        if not each.translation or each.translated != each.source.text_fingerprint
        else each
        for each in lines
    ]
    script = script_lines(translated, document, until_seconds=UNTIL, glossary=Glossary())
    placed = []
    for line, scripted in zip(translated, script, strict=True):
        if not line.is_spoken:
            continue
        known = line.published.placed if line.published is not None and line.work.value == "kept" else None
        key, seconds = f"key-{scripted.number}", scripted.end_seconds - scripted.start_seconds
        new = PlacedLine(
            scripted.number, key, scripted.start_seconds, seconds, 1.0, scripted.texts[0], shortened=False, gain=1.0
        )
        placed.append(replace(known, number=scripted.number) if known is not None else new)
    return republished(
        translated,
        script,
        LineSchedule(tuple(placed)),
        voices={each.voice_key: VOICE for each in script},
        recognized={},
    )
