"""Writes extractive titles, descriptions and reasons for moments."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import re
from collections.abc import Sequence

from cutroom.text.vocabulary import Vocabulary, clean_text, vocabulary, words_of
from cutroom.text.writing_systems import SENTENCE_MARKS

TITLE_CHARACTERS = 70
DESCRIPTION_CHARACTERS = 300
MIN_TITLE_WORDS = 3
BEST_TITLE_WORDS = 8
REASON_FEATURES = 2

_CLAUSE = re.compile(r"(?<=[,;:–—])\s+|(?<=[，、；：])")
_TRIMMED_CHARACTERS = " \t,;:–—-.…\"'“”‘’«»()[]，、；：。"
_ELLIPSIS = "…"


def make_title(texts: Sequence[str], scores: Sequence[float], *, language: str, fallback: str) -> str:
    """The most representative sentence if it fits, else a clause of it, else its beginning."""
    words_known = vocabulary(language)
    cleaned = [clean_text(text) for text in texts]
    ranked = sorted(range(len(texts)), key=lambda index: (-scores[index] - _fitness(cleaned[index]), index))
    for shorten in (_full_sentence, _clause, _beginning):
        for index in ranked:
            if title := shorten(cleaned[index], words_known):
                return title
    return fallback


def make_description(texts: Sequence[str], scores: Sequence[float]) -> str:
    """One or two verbatim sentences in order."""
    cleaned = [clean_text(text) for text in texts]
    ranked = sorted(range(len(texts)), key=lambda index: (-scores[index], index))
    chosen: list[int] = []
    for index in ranked:
        text = cleaned[index]
        length = sum(len(cleaned[other]) + 1 for other in chosen) + len(text)
        if text and text not in (cleaned[other] for other in chosen) and length <= DESCRIPTION_CHARACTERS:
            chosen.append(index)
        if len(chosen) == 2:
            break
    if not chosen and (longest := next(filter(None, cleaned), "")):
        return _shortened(longest, DESCRIPTION_CHARACTERS)
    return " ".join(cleaned[index] for index in sorted(chosen))


def make_reason(features: Sequence[tuple[float, str]], *, default: str) -> str:
    """A sentence from the strongest features; each text continues "It"."""
    ranked = sorted((each for each in features if each[0] > 0), key=lambda each: -each[0])[:REASON_FEATURES]
    text = " and ".join(text for _, text in ranked) or default
    return f"It {text}."


def format_clock(seconds: float) -> str:
    """Formats a time as 1:20 or 1:02:03."""
    minutes, remaining = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{remaining:02}" if hours else f"{minutes}:{remaining:02}"


def _fitness(text: str) -> float:
    """Prefers titles of moderate length, and questions."""
    count = len(words_of(text))
    question_bonus = 0.15 if text.endswith(("?", "？", "؟")) else 0.0
    return question_bonus - 0.03 * abs(count - BEST_TITLE_WORDS)


def _full_sentence(text: str, words_known: Vocabulary) -> str:
    return _as_title(text, words_known) if text[-1:] in SENTENCE_MARKS else ""


def _clause(text: str, words_known: Vocabulary) -> str:
    """The longest sequence of leading clauses that fits."""
    parts = _CLAUSE.split(text)
    for end in range(len(parts) - 1, 0, -1):
        if title := _as_title(text[: _end_of(text, parts[:end])], words_known):
            return title
    return ""


def _end_of(text: str, parts: Sequence[str]) -> int:
    index = 0
    for part in parts:
        index = text.index(part, index) + len(part)
    return index


def _beginning(text: str, words_known: Vocabulary) -> str:
    text = _without_filler(text, words_known)
    if len(text) <= TITLE_CHARACTERS:
        return _sentence_case(_trimmed(text))
    return _sentence_case(_shortened(text, TITLE_CHARACTERS, words_known))


def _as_title(text: str, words_known: Vocabulary) -> str:
    """The text as a title, or an empty string if it is too long or too short."""
    title = _trimmed(_without_filler(text, words_known))
    words = words_of(title)
    is_dangling = bool(words) and text[-1:] not in SENTENCE_MARKS and words_known.is_stop_word(words[-1])
    if len(title) > TITLE_CHARACTERS or len(words) < MIN_TITLE_WORDS or is_dangling:
        return ""
    return _sentence_case(title)


def _without_filler(text: str, words_known: Vocabulary) -> str:
    while (parts := text.split(" ", 1))[1:] and parts[0].strip(_TRIMMED_CHARACTERS).lower() in words_known.fillers:
        text = parts[1]
    return text


def _trimmed(text: str) -> str:
    return text.lstrip(_TRIMMED_CHARACTERS + "!?").rstrip(_TRIMMED_CHARACTERS)


def _shortened(text: str, limit: int, words_known: Vocabulary | None = None) -> str:
    """Truncates at a word boundary, without trailing function words, and adds an ellipsis."""
    if len(text) <= limit:
        return text
    prefix = text[: limit - len(_ELLIPSIS) + 1]
    words = (prefix.rsplit(" ", 1)[0] if " " in prefix else prefix[:-1]).split(" ")
    while len(words) > 1 and words_known is not None and words_known.is_stop_word((words_of(words[-1]) or ["-"])[-1]):
        words.pop()
    return _trimmed(" ".join(words)) + _ELLIPSIS


def _sentence_case(text: str) -> str:
    if text.isupper() and " " in text:
        text = text.lower()
    first = text[:1].upper()
    # Uppercasing may lengthen some letters; enforce the limit.
    return (first + text[1:])[:TITLE_CHARACTERS] if len(first) == 1 else text[:TITLE_CHARACTERS]
