"""Puts imported lines into the segments of captions: by their words where captions exist, else by their times."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cutroom.errors import invalid_field
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.captions.importing.cue_placement import PlacedCues, place_cues
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.products.transcripts.editing.operations import InvalidEditError
from cutroom.products.transcripts.editing.read_cues import ReadCue
from cutroom.products.transcripts.editing.text_placement import ImportedLine, find_texts

MIN_CORRECTED = 0.8  # share of the words of cues that the captions have as well, if they were exported from them
MIN_SCRIPT = 0.5  # of a script, which has no times


def place_lines(
    lines: Sequence[ImportedLine],
    segments: Sequence[DocumentSegment],
    captions: Mapping[str, CaptionSegment],
    *,
    language: str,
) -> PlacedCues:
    """Place lines into segments, none of which is deleted; raises an error of the API if they belong to none."""
    cues = [
        ReadCue(line.start_seconds, line.end_seconds, line.text, line.speaker)
        for line in lines
        if line.start_seconds is not None and line.end_seconds is not None
    ]
    is_timed = len(cues) == len(lines)
    known = [replace(each, text=captions[each.id].text) for each in segments if each.id in captions]
    by_words = _by_words(lines, known, language=language, min_match=MIN_CORRECTED if is_timed else MIN_SCRIPT)
    if by_words is not None:
        return by_words
    if not is_timed:
        message = "A script has no times. Its captions have to exist already, with most of its words."
        raise invalid_field("content", message)
    placed = place_cues(cues, segments, language=language)
    if not placed.texts:
        raise invalid_field("content", "There is no cue during speech.")
    return placed


def _by_words(
    lines: Sequence[ImportedLine], known: Sequence[DocumentSegment], *, language: str, min_match: float
) -> PlacedCues | None:
    document = TranscriptDocument(tuple(known))
    try:
        found = find_texts(document, lines, language=language, min_match=min_match)
    except InvalidEditError as error:
        raise invalid_field(error.field, error.message) from error
    return PlacedCues(found.texts, found.unplaced_lines) if found is not None and found.texts else None
