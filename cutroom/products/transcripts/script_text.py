"""Writes and reads plain scripts: what is said, in paragraphs, each below the name of who says it.

A name is on the first line of a paragraph, and ends with a colon. Paragraphs without a name continue what the speaker
before them says, and have one line, so that no text can be taken for a name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cutroom.media.subtitles import SubtitleCue, clean_text
from cutroom.products.transcripts.text_units import join_words
from cutroom.text.writing_systems import SENTENCE_MARKS, strip_closing_marks

PAUSE_SECONDS = 2.5  # a longer silence ends a paragraph
PARAGRAPH_CHARACTERS = 600  # after which a paragraph ends with the next sentence
_COLON = ":"


@dataclass(frozen=True, slots=True)
class ScriptParagraph:
    """What one person says; `speaker` is the name in force, if the script has names."""

    text: str
    speaker: str | None


@dataclass(slots=True)
class _Paragraph:
    speaker: str
    end_seconds: float
    pieces: list[str] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        ends_sentence = strip_closing_marks(self.pieces[-1])[-1:] in SENTENCE_MARKS
        return ends_sentence and sum(map(len, self.pieces)) >= PARAGRAPH_CHARACTERS


def write_script(cues: Sequence[SubtitleCue], *, language: str, names: Mapping[str, str] | None = None) -> str:
    """Renders a script of what cues show. Speakers missing from `names` are shown by id."""
    shown, speaker = [], ""
    for paragraph in _paragraphs(cues):
        text = join_words(paragraph.pieces, language=language)
        name = clean_text((names or {}).get(paragraph.speaker, "")) or clean_text(paragraph.speaker)
        is_turn = bool(name) and paragraph.speaker != speaker
        speaker = paragraph.speaker
        shown.append(f"{name}{_COLON}\n{text}\n" if is_turn else f"{text}\n")
    return "\n".join(shown)


def _paragraphs(cues: Sequence[SubtitleCue]) -> list[_Paragraph]:
    paragraphs: list[_Paragraph] = []
    for cue in cues:
        for line in cue.lines:
            if not (text := clean_text(line.text)):
                continue
            last = paragraphs[-1] if paragraphs else None
            pause = cue.start_seconds - last.end_seconds if last else 0.0
            if last is None or last.speaker != line.speaker or pause > PAUSE_SECONDS or last.is_full:
                last = _Paragraph(line.speaker, cue.end_seconds)
                paragraphs.append(last)
            last.pieces.append(text)
            last.end_seconds = cue.end_seconds
    return paragraphs


def read_script(content: str) -> Iterator[ScriptParagraph]:
    """The paragraphs of a script. If it does not begin with a name, none of its lines is one."""
    speaker: str | None = None
    has_names = None
    for lines in _blocks(content):
        name = lines[0].removesuffix(_COLON) if len(lines) > 1 and lines[0].endswith(_COLON) else None
        has_names = name is not None if has_names is None else has_names
        is_named = has_names and name is not None
        if is_named:
            speaker = name or None
        yield ScriptParagraph(" ".join(lines[1:] if is_named else lines), speaker)


def _blocks(content: str) -> Iterator[list[str]]:
    """Lines without blank ones between them."""
    block: list[str] = []
    for line in [*content.splitlines(), ""]:
        if text := clean_text(line):
            block.append(text)
        elif block:
            yield block
            block = []
