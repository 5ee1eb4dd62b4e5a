"""Detects prompt injections in transcripts: sentences addressed to the model that reads them.

Detected sentences are neither quoted nor sent to a language model. Natural speech contains no braces, tags or code
words, so false positives are rare and cost one sentence among many.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from cutroom.engines.writing.port import WritingInput
from cutroom.text.sentences import SpokenSegment, sentence_segments
from cutroom.text.vocabulary import stems

MAX_SEGMENTS = 20_000
NEARBY = 2  # sentences on either side of an injection in which its code word may be
CODE_WORD_CHARACTERS = 10
SHARED = 0.25  # share of content words that recur elsewhere, below which a sentence is off topic
SUSPICIOUS_SHARED = 0.6
FEW_SENTENCES = 6  # shorter transcripts need not repeat any word
_MARKUP = re.compile(
    r"[{}<>`|\\\]\[]|#{2,}|\*{2,}|-{3,}|={3,}|^\s*(?:system|assistant|user|human|developer)\s*:", re.IGNORECASE
)
_BLOB = re.compile(
    r"(?<!\S)(?=\S*[a-z])(?=\S*[A-Z])(?=\S*[0-9+/=])[A-Za-z0-9+/_-]{16,}={0,2}"
    r"|(?:%[0-9A-Fa-f]{2}){3,}|(?:\\[ux][0-9A-Fa-f]{2,4})+"
)
_SPACED = re.compile(r"\b(?:[^\W\d_][ .\-*_]){3,}[^\W\d_]\b")
_LOOKALIKES = str.maketrans("аеорсухіјѕԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΧοα", "aeopcyxijsdhqwABEZHIKMNOPTXoa")  # noqa: RUF001 - homoglyphs are the point
_LEET = str.maketrans("013457@$", "oieast" + "as")


def strip_injections(source: WritingInput) -> tuple[WritingInput, list[str]]:
    """The source split into sentences without detected injections, and the injections."""
    segments = sentence_segments(source.segments[:MAX_SEGMENTS])
    suspect = {at for at, each in enumerate(segments) if is_injection(each.text)}
    for at in range(len(segments) - 1):
        # An injection split across two sentences.
        if at not in suspect and at + 1 not in suspect and _spans(segments[at], segments[at + 1]):
            suspect |= {at, at + 1}
    suspect |= _off_topic_instructions(segments, SHARED, language=source.language)
    near = {at + step for at in suspect for step in range(-NEARBY, NEARBY + 1)}
    suspect |= {
        at
        for at in near
        if 0 <= at < len(segments) and has_code_word(segments[at].text, min_length=CODE_WORD_CHARACTERS // 2)
    }
    kept = tuple(each for at, each in enumerate(segments) if at not in suspect)
    return replace(source, segments=kept), [segments[at].text for at in sorted(suspect)]


def suspicious_sentences(source: WritingInput, *, strict: bool) -> list[str]:
    """Sentences that may be quoted, but whose otherwise unused words a model must not use.

    They talk about writing and share little with the rest of the transcript; in strict mode the topic does not matter.
    """
    segments, language = source.segments[:MAX_SEGMENTS], source.language
    found = _off_topic_instructions(segments, SUSPICIOUS_SHARED, language=language)
    found |= set(_off_topic(segments, SHARED, language=language)) if strict else set()
    return [segments[at].text for at in sorted(found)]


def _off_topic_instructions(segments: Sequence[SpokenSegment], shared: float, *, language: str) -> set[int]:
    """Off-topic sentences about writing or AI.

    Catches injections without enumerating their wordings: an injected text is about something else.
    """
    about_writing = _patterns().about_writing
    return {at for at in _off_topic(segments, shared, language=language) if about_writing.search(segments[at].text)}


def _off_topic(segments: Sequence[SpokenSegment], shared: float, *, language: str) -> list[int]:
    """Sentences with less than this share of content words that recur elsewhere, not counting words about writing."""
    if len(segments) < FEW_SENTENCES:
        return []
    about_writing = _patterns().about_writing
    own = [frozenset(stems(about_writing.sub(" ", each.text.lower()), language=language)) for each in segments]
    counts = Counter(stem for here in own for stem in here)
    return [at for at, here in enumerate(own) if here and sum(counts[stem] > 1 for stem in here) < shared * len(here)]


def is_injection(text: str) -> bool:
    """Whether the text contains markup, code words or instructions to a model."""
    folded = unicodedata.normalize("NFKC", text)
    if _MARKUP.search(folded) or _BLOB.search(folded) or has_code_word(folded):
        return True
    return any(_patterns().instructions.search(each) for each in _deobfuscated(folded))


def has_code_word(text: str, *, min_length: int = CODE_WORD_CHARACTERS) -> bool:
    """Whether any token looks like a canary or access code: long, with upper case and digits or dashes."""
    return any(_is_code_word(word.strip(".,;:!?\"'()“”«»"), min_length) for word in text.split())


def _is_code_word(word: str, min_length: int) -> bool:
    if len(word) < min_length or not any(map(str.isalpha, word)):
        return False
    mixed = any(map(str.isdigit, word)) or "_" in word or ("-" in word and word.isupper())
    plain = re.fullmatch(r"\d+[.,:]?\d*[^\W\d_]{1,12}|[^\W\d_]+(?:-[^\W\d_]+)*-?\d{1,4}", word)
    return mixed and (plain is None or (word.isupper() and len(word) >= CODE_WORD_CHARACTERS)) and not word.islower()


def _deobfuscated(text: str) -> list[str]:
    """The text without invisible characters, and with letter spacing, homoglyphs and leetspeak undone."""
    visible = "".join(each for each in text if unicodedata.category(each) != "Cf")
    joined = _SPACED.sub(lambda match: re.sub(r"[ .\-*_]", "", match.group()), visible)
    latin = joined.translate(_LOOKALIKES) if re.search("[A-Za-z]", joined) else joined
    leet = " ".join(
        word.translate(_LEET) if re.search(r"[A-Za-z]", word) and re.search(r"[0-9@$]", word) else word
        for word in latin.split()
    )
    return list(dict.fromkeys([visible, joined, latin, leet]))


def _spans(left: SpokenSegment, right: SpokenSegment) -> bool:
    text = f"{left.text} {right.text}"
    end = len(left.text)
    return any(match.start() < end < match.end() for match in _patterns().instructions.finditer(text))


@dataclass(frozen=True, slots=True)
class _Patterns:
    instructions: re.Pattern[str]
    about_writing: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    table = tomllib.loads(Path(__file__).with_name("prompt_injection.toml").read_text(encoding="utf-8"))
    instructions = "|".join(f"(?:{each})" for each in (*table["override"], *table["role"], *table["output"]))
    return _Patterns(
        re.compile(instructions, re.IGNORECASE | re.DOTALL), re.compile(table["about_writing"], re.IGNORECASE)
    )
