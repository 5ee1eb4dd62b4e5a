"""Detects prompt injections in transcripts: orders to the person or language model that writes about the video.

Detected sentences are neither quoted nor sent to a language model. Detection is narrow, because a sentence that is
removed by mistake is missing from every text: transcripts are passed as data, and output is checked.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from cutroom.engines.writing.port import WritingInput
from cutroom.text.sentences import SpokenSegment, sentence_segments
from cutroom.text.writing_systems import SENTENCE_MARKS, strip_closing_marks

MAX_SEGMENTS = 20_000
NEARBY = 2  # sentences on either side of an injection in which its code word may be
CODE_WORD_CHARACTERS = 10
_MARKUP = re.compile(r"[{}<>`|\\\]\[]|#{2,}|\*{2,}|-{3,}|={3,}")
_ENCODED = re.compile(
    r"(?<!\S)(?=\S*[a-z])(?=\S*[A-Z])(?=\S*[0-9+/=])[A-Za-z0-9+/_-]{16,}={0,2}"
    r"|(?:%[0-9A-Fa-f]{2}){3,}|(?:\\[ux][0-9A-Fa-f]{2,4})+"
)
_SPACED = re.compile(r"\b(?:[^\W\d_][ .\-*_]){3,}[^\W\d_]\b")
_LOOKALIKES = str.maketrans("аеорсухіјѕԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΧοα", "aeopcyxijsdhqwABEZHIKMNOPTXoa")  # noqa: RUF001 - homoglyphs are the point
_LEET = str.maketrans("013457@$", "oieast" + "as")
_NAME = re.compile(r"<(\w+)>")


def strip_injections(source: WritingInput) -> tuple[WritingInput, list[str]]:
    """The source split into sentences without detected injections, and the injections."""
    segments = sentence_segments(source.segments[:MAX_SEGMENTS])
    found = {at for at, each in enumerate(segments) if is_injection(each.text)}
    for at in range(len(segments) - 1):
        if at not in found and at + 1 not in found and _is_split(segments[at], segments[at + 1]):
            found |= {at, at + 1}
    near = {at + step for at in found for step in range(-NEARBY, NEARBY + 1)}
    found |= {
        at
        for at in near
        if 0 <= at < len(segments) and code_words(segments[at].text, min_length=CODE_WORD_CHARACTERS // 2)
    }
    kept = tuple(each for at, each in enumerate(segments) if at not in found)
    return replace(source, segments=kept), [segments[at].text for at in sorted(found)]


def is_injection(text: str) -> bool:
    """Whether the text contains an order to a writer or a language model, a role marker or encoded text."""
    folded = unicodedata.normalize("NFKC", text)
    return _ENCODED.search(folded) is not None or any(_pattern().search(each) for each in _deobfuscated(folded))


def has_markup(text: str) -> bool:
    """Whether the text contains characters of markup, which no text about a video needs."""
    return _MARKUP.search(unicodedata.normalize("NFKC", text)) is not None


def code_words(text: str, *, min_length: int = CODE_WORD_CHARACTERS) -> list[str]:
    """Tokens that look like a canary or access code: long, with upper case and digits or dashes."""
    words = (word.strip(".,;:!?\"'()“”«»") for word in text.split())
    return [word for word in words if _is_code_word(word, min_length)]


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


def _is_split(left: SpokenSegment, right: SpokenSegment) -> bool:
    """Whether an injection spans two segments of one sentence."""
    end = len(left.text)
    if strip_closing_marks(left.text)[-1:] in SENTENCE_MARKS:
        return False
    return any(match.start() < end < match.end() for match in _pattern().finditer(f"{left.text} {right.text}"))


@cache
def _pattern() -> re.Pattern[str]:
    table = tomllib.loads(Path(__file__).with_name("prompt_injection.toml").read_text(encoding="utf-8"))
    words: Mapping[str, str] = table["words"]
    rules: Mapping[str, Sequence[str]] = table["rules"]
    alternatives = "|".join(f"(?:{_expand(each, words)})" for rule in rules.values() for each in rule)
    return re.compile(alternatives, re.IGNORECASE | re.DOTALL | re.MULTILINE)


def _expand(rule: str, words: Mapping[str, str]) -> str:
    """Replaces each <name> with the words of that name."""
    return _NAME.sub(lambda match: _expand(words[match[1]], words) if match[1] in words else match[0], rule)
