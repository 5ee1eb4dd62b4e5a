"""Puts an imported text into the segments of a transcript: what was recognized says where each word belongs.

The words of both are aligned as sequences. Segments keep their ids, times and speakers; only their texts change. So a
text without times gets them, and subtitles, whose cues divide sentences as the screen needs it, keep the segments as
they are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rapidfuzz.distance import Levenshtein

from cutroom.media.subtitles import clean_text
from cutroom.products.transcripts.document import (
    DocumentSegment,
    TranscriptDocument,
    rounded,
    shown_names,
    speaker_label,
)
from cutroom.products.transcripts.editing.identity import keep_ids
from cutroom.products.transcripts.editing.operations import (
    MAX_LABEL,
    MAX_SEGMENTS,
    MAX_SPEAKERS,
    InvalidEditError,
    checked_text,
)
from cutroom.products.transcripts.editing.splitting import word_key, word_units
from cutroom.products.transcripts.text_units import join_words

MAX_IMPORTED_WORDS = 60_000
MIN_MATCH = 0.3  # share of the words of a text without times that were recognized as well
MIN_TIMED_MATCH = 0.5  # below it, the times of the cues say more than the words
GAP_SECONDS = 0.3  # imported speech this far from recognized segments is one of its own
_SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", "।", "؟")  # noqa: RUF001 (full width, as in Chinese)
_CLOSING = "\"')]}»”’」』"  # noqa: RUF001 (quotation marks)


@dataclass(frozen=True, slots=True)
class ImportedLine:
    """A cue, or a line of a text without times."""

    text: str
    start_seconds: float | None = None
    end_seconds: float | None = None
    speaker: str | None = None  # a name


@dataclass(slots=True)
class _Word:
    """A word, or in scripts without spaces a character, of the imported text."""

    text: str
    line: int
    joins_previous: bool  # a part of the same word
    at_seconds: float | None
    segment: int | None = None  # the position of the segment that it belongs to


def place_text(
    document: TranscriptDocument,
    lines: Sequence[ImportedLine],
    *,
    language: str,
    until_seconds: float | None,
    new_id: Callable[[], str],
) -> TranscriptDocument:
    """The document with the imported text in place of its own; raises InvalidEditError if it cannot be placed.

    Deleted segments that the text does not have stay as they are; others without any text are removed.
    """
    lines = [_within(line, until_seconds) for line in lines]
    words = [word for at, line in enumerate(lines) for word in _words(line, at)]
    if not words:
        raise InvalidEditError("content", "There is no text within the recording.")
    if len(words) > MAX_IMPORTED_WORDS:
        raise InvalidEditError("content", f"At most {MAX_IMPORTED_WORDS:,} words.")
    match = _match(document, words)
    is_timed = all(line.start_seconds is not None for line in lines)
    speakers = _Speakers(document)
    if is_timed and match < MIN_TIMED_MATCH:
        placed = _replaced(document, lines, speakers, new_id=new_id)
    elif match < MIN_MATCH:
        message = f"This does not seem to be what is said: {match:.0%} of its words were recognized."
        raise InvalidEditError("content", message)
    else:
        _fill(document, words)
        placed = _rebuilt(document, lines, words, speakers, language=language, new_id=new_id)
    if len(placed.segments) > MAX_SEGMENTS:
        raise InvalidEditError("content", f"A transcript has at most {MAX_SEGMENTS} segments.")
    return placed


@dataclass(frozen=True, slots=True)
class FoundTexts:
    """The texts of lines by the segment that their words belong to."""

    texts: Mapping[str, str]
    unplaced_lines: int  # of which no word belongs to a segment


def find_texts(
    document: TranscriptDocument, lines: Sequence[ImportedLine], *, language: str, min_match: float
) -> FoundTexts | None:
    """The texts for the segments of a document by their words; None if fewer of them are the same."""
    words = [word for at, line in enumerate(lines) for word in _words(line, at)]
    if not words or len(words) > MAX_IMPORTED_WORDS or _match(document, words) < min_match:
        return None
    _fill(document, words)
    by_segment: dict[int, list[_Word]] = {}
    for word in words:
        if word.segment is not None:
            by_segment.setdefault(word.segment, []).append(word)
    texts = {document.segments[at].id: _text(found, language) for at, found in by_segment.items()}
    placed_lines = {word.line for word in words if word.segment is not None}
    return FoundTexts(texts, len({word.line for word in words} - placed_lines))


def _within(line: ImportedLine, until_seconds: float | None) -> ImportedLine:
    """The line inside of the recording; without text if it is after its end."""
    if line.start_seconds is None or line.end_seconds is None or until_seconds is None:
        return line
    if line.start_seconds >= until_seconds:
        return replace(line, text="")
    return replace(line, end_seconds=min(line.end_seconds, until_seconds))


def _words(line: ImportedLine, number: int) -> list[_Word]:
    words = []
    for each in line.text.split():
        words += [_Word(unit, number, bool(at), None) for at, unit in enumerate(word_units(each))]
    if line.start_seconds is not None and line.end_seconds is not None:
        for at, word in enumerate(words):
            share = (at + 0.5) / len(words)
            word.at_seconds = line.start_seconds + share * (line.end_seconds - line.start_seconds)
    return words


def _match(document: TranscriptDocument, words: Sequence[_Word]) -> float:
    """Find the segments of words that were recognized, or stand for such; return the share that are the same."""
    wanted = [word_key(word.text) for word in words]
    known = _known_words(document, wanted)
    equal = 0
    for code in Levenshtein.opcodes([key for key, _ in known], wanted):
        if code.tag not in {"equal", "replace"}:
            continue
        for offset in range(code.dest_end - code.dest_start):
            words[code.dest_start + offset].segment = known[code.src_start + offset][1]
        equal += code.dest_end - code.dest_start if code.tag == "equal" else 0
    return equal / len(words)


def _known_words(document: TranscriptDocument, wanted: Sequence[str]) -> list[tuple[str, int]]:
    """The words of the document with the positions of their segments.

    Deleted ones count only if the text is nearer to the document with them: a word that was said twice, and deleted
    once, would otherwise be taken for the deleted one.
    """
    known = [(word_key(unit), at) for at, each in enumerate(document.segments) for unit in word_units(each.text)]
    kept = [(key, at) for key, at in known if not document.segments[at].deleted]
    if len(kept) == len(known):
        return known
    distances = [Levenshtein.distance([key for key, _ in each], wanted) for each in (kept, known)]
    return kept if distances[0] <= distances[1] else known


def _fill(document: TranscriptDocument, words: Sequence[_Word]) -> None:
    """Find the segments of words that were not recognized, from those around them; None: they are in a gap."""
    at = 0
    while at < len(words):
        if words[at].segment is not None:
            at += 1
            continue
        until = next((later for later in range(at, len(words)) if words[later].segment is not None), len(words))
        left = words[at - 1].segment if at else None
        right = words[until].segment if until < len(words) else None
        ends_sentence = at > 0 and _ends_sentence(words[at - 1].text)
        _fill_run(document, words[at:until], left, right, ends_sentence=ends_sentence)
        at = until


def _fill_run(
    document: TranscriptDocument, run: Sequence[_Word], left: int | None, right: int | None, *, ends_sentence: bool
) -> None:
    if left == right and left is not None:
        for word in run:
            word.segment = left
        return
    run = [word for word in run if not _is_in_gap(document, word, left, right)]
    turn = 0  # the first word that belongs to the segment on the right
    if left is not None and right is not None:
        ends = [number + 1 for number, word in enumerate(run) if _ends_sentence(word.text)]
        turn = ends[-1] if ends else 0 if ends_sentence else len(run)
    elif left is not None:
        turn = len(run)
    for number, word in enumerate(run):
        word.segment = left if number < turn else right


def _is_in_gap(document: TranscriptDocument, word: _Word, left: int | None, right: int | None) -> bool:
    """Whether the time of a word says that it belongs to neither segment."""
    if word.at_seconds is None:
        return False
    after = left is None or word.at_seconds > document.segments[left].end_seconds + GAP_SECONDS
    before = right is None or word.at_seconds < document.segments[right].start_seconds - GAP_SECONDS
    return after and before


def _ends_sentence(text: str) -> bool:
    return text.rstrip(_CLOSING).endswith(_SENTENCE_ENDS)


def _rebuilt(
    document: TranscriptDocument,
    lines: Sequence[ImportedLine],
    words: Sequence[_Word],
    speakers: "_Speakers",
    *,
    language: str,
    new_id: Callable[[], str],
) -> TranscriptDocument:
    by_segment: dict[int, list[_Word]] = {}
    in_gaps: dict[int, list[_Word]] = {}
    for word in words:
        (in_gaps if word.segment is None else by_segment).setdefault(
            word.line if word.segment is None else word.segment, []
        ).append(word)
    segments = []
    for at, segment in enumerate(document.segments):
        if found := by_segment.get(at):
            speaker = speakers.most_said([lines[word.line].speaker for word in found]) or segment.speaker
            segments.append(replace(segment, text=_text(found, language), speaker=speaker))
        elif segment.deleted:
            segments.append(segment)
    for number, found in in_gaps.items():
        segments = _inserted(segments, lines[number], _text(found, language), speakers, new_id=new_id)
    return TranscriptDocument(tuple(segments), speakers.labels)


def _text(words: Sequence[_Word], language: str) -> str:
    pieces: list[str] = []
    for word in words:
        if word.joins_previous and pieces:
            pieces[-1] += word.text
        else:
            pieces.append(word.text)
    return checked_text(join_words(pieces, language=language), "content")


def _inserted(
    segments: list[DocumentSegment],
    line: ImportedLine,
    text: str,
    speakers: "_Speakers",
    *,
    new_id: Callable[[], str],
) -> list[DocumentSegment]:
    """The segments with a cue between them, cut to the gap that it is in."""
    assert line.start_seconds is not None
    assert line.end_seconds is not None
    middle = (line.start_seconds + line.end_seconds) / 2
    at = next((number for number, each in enumerate(segments) if each.start_seconds > middle), len(segments))
    earliest = segments[at - 1].end_seconds if at else 0.0
    latest = segments[at].start_seconds if at < len(segments) else line.end_seconds
    start, end = rounded(max(line.start_seconds, earliest)), rounded(min(line.end_seconds, latest))
    if start >= end:
        raise InvalidEditError("content", f"There is no room for the cue at {rounded(line.start_seconds)} s.")
    nearest = segments[at - 1] if at else segments[0] if segments else None
    speaker = speakers.most_said([line.speaker]) or (nearest.speaker if nearest else speakers.first)
    return [*segments[:at], DocumentSegment(new_id(), start, end, text, speaker), *segments[at:]]


def _replaced(
    document: TranscriptDocument,
    lines: Sequence[ImportedLine],
    speakers: "_Speakers",
    *,
    new_id: Callable[[], str],
) -> TranscriptDocument:
    """The cues as segments, where hardly any word was recognized as it is."""
    segments: list[DocumentSegment] = []
    for line in lines:
        if not line.text or line.start_seconds is None or line.end_seconds is None:
            continue
        start = rounded(max(line.start_seconds, segments[-1].end_seconds if segments else 0.0))
        end = rounded(line.end_seconds)
        if start >= end:
            raise InvalidEditError("content", f"The cue at {rounded(line.start_seconds)} s overlaps the one before.")
        speaker = speakers.most_said([line.speaker]) or _speaker_at(document, start, end) or speakers.first
        segments.append(DocumentSegment("", start, end, checked_text(line.text, "content"), speaker))
    return keep_ids(document, TranscriptDocument(tuple(segments), speakers.labels), new_id=new_id)


def _speaker_at(document: TranscriptDocument, start: float, end: float) -> str | None:
    """Who was recognized for most of a span."""
    shared: dict[str, float] = {}
    for segment in document.segments:
        seconds = min(end, segment.end_seconds) - max(start, segment.start_seconds)
        if seconds > 0:
            shared[segment.speaker] = shared.get(segment.speaker, 0.0) + seconds
    return max(shared, key=lambda speaker: shared[speaker]) if shared else None


class _Speakers:
    """The speakers of a document, and those that an import adds."""

    def __init__(self, document: TranscriptDocument) -> None:
        self.labels = {each: document.labels.get(each, speaker_label(each)) for each in document.speakers}
        self.labels |= document.labels
        names = shown_names(self.labels)
        self._by_name = {clean_text(label).casefold(): speaker for speaker, label in self.labels.items()}
        self._by_name |= {speaker.casefold(): speaker for speaker in self.labels}
        self._by_name |= {name.casefold(): speaker for speaker, name in names.items()}

    @property
    def first(self) -> str:
        """The speaker of speech of which nothing is known."""
        if not self.labels:
            self.labels["speaker_1"] = speaker_label("speaker_1")
        return next(iter(self.labels))

    def most_said(self, names: Sequence[str | None]) -> str | None:
        """The speaker that most words are labeled with; None without labels."""
        named = [name for name in names if name]
        if not named:
            return None
        name = max(dict.fromkeys(named), key=named.count)
        if name.casefold() not in self._by_name:
            self._add(name)
        return self._by_name[name.casefold()]

    def _add(self, name: str) -> None:
        if len(self.labels) >= MAX_SPEAKERS:
            raise InvalidEditError("content", f"At most {MAX_SPEAKERS} speakers.")
        number = next(at for at in range(1, MAX_SPEAKERS + 2) if f"speaker_{at}" not in self.labels)
        self.labels[f"speaker_{number}"] = name[:MAX_LABEL]
        self._by_name[name.casefold()] = f"speaker_{number}"
