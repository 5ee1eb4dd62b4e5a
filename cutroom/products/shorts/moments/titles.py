"""What a moment is called and described with: its own words, cleaned and never more than was said."""

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
_EDGES = " \t,;:–—-.…\"'“”‘’«»()[]，、；：。"
_MORE = "…"


def title_of(texts: Sequence[str], worths: Sequence[float], *, language: str, fallback: str) -> str:
    """The sentence that says most of the moment, whole if it can be, or else a clause of it, or its beginning."""
    known = vocabulary(language)
    cleaned = [clean_text(text) for text in texts]
    ranked = sorted(range(len(texts)), key=lambda at: (-worths[at] - _fitness(cleaned[at]), at))
    for ways in (_whole, _clause, _beginning):
        for at in ranked:
            if title := ways(cleaned[at], known):
                return title
    return fallback


def description_of(texts: Sequence[str], worths: Sequence[float]) -> str:
    """One or two sentences as they were said, in their order."""
    cleaned = [clean_text(text) for text in texts]
    ranked = sorted(range(len(texts)), key=lambda at: (-worths[at], at))
    chosen: list[int] = []
    for at in ranked:
        text = cleaned[at]
        length = sum(len(cleaned[other]) + 1 for other in chosen) + len(text)
        if text and text not in (cleaned[other] for other in chosen) and length <= DESCRIPTION_CHARACTERS:
            chosen.append(at)
        if len(chosen) == 2:
            break
    if not chosen and (longest := next(filter(None, cleaned), "")):
        return _shortened(longest, DESCRIPTION_CHARACTERS)
    return " ".join(cleaned[at] for at in sorted(chosen))


def reason_of(features: Sequence[tuple[float, str]], *, otherwise: str) -> str:
    """A sentence made of the features that weigh most; each text reads on after "It"."""
    ranked = sorted((each for each in features if each[0] > 0), key=lambda each: -each[0])[:REASON_FEATURES]
    told = " and ".join(text for _, text in ranked) or otherwise
    return f"It {told}."


def clock_text(seconds: float) -> str:
    """A time as players show it, as in 1:20 or 1:02:03."""
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _fitness(text: str) -> float:
    """Titles are short, but not too short; a question makes a good one."""
    count = len(words_of(text))
    asks = 0.15 if text.endswith(("?", "？", "؟")) else 0.0
    return asks - 0.03 * abs(count - BEST_TITLE_WORDS)


def _whole(text: str, known: Vocabulary) -> str:
    return _finished(text, known) if text[-1:] in SENTENCE_MARKS else ""


def _clause(text: str, known: Vocabulary) -> str:
    """The longest run of clauses from the start of a sentence that fits."""
    parts = _CLAUSE.split(text)
    for end in range(len(parts) - 1, 0, -1):
        if title := _finished(text[: _end_of(text, parts[:end])], known):
            return title
    return ""


def _end_of(text: str, parts: Sequence[str]) -> int:
    at = 0
    for part in parts:
        at = text.index(part, at) + len(part)
    return at


def _beginning(text: str, known: Vocabulary) -> str:
    text = _without_filler(text, known)
    if len(text) <= TITLE_CHARACTERS:
        return _sentence_case(_trimmed(text))
    return _sentence_case(_shortened(text, TITLE_CHARACTERS, known))


def _finished(text: str, known: Vocabulary) -> str:
    """The text as a title, or nothing where it is too long or too short for one."""
    title = _trimmed(_without_filler(text, known))
    words = words_of(title)
    dangles = bool(words) and text[-1:] not in SENTENCE_MARKS and known.says_little(words[-1])
    if len(title) > TITLE_CHARACTERS or len(words) < MIN_TITLE_WORDS or dangles:
        return ""
    return _sentence_case(title)


def _without_filler(text: str, known: Vocabulary) -> str:
    while (parts := text.split(" ", 1))[1:] and parts[0].strip(_EDGES).lower() in known.filler:
        text = parts[1]
    return text


def _trimmed(text: str) -> str:
    return text.lstrip(_EDGES + "!?").rstrip(_EDGES)


def _shortened(text: str, limit: int, known: Vocabulary | None = None) -> str:
    """As many whole words as fit, none of the last of them a small one, and a sign that more was said."""
    if len(text) <= limit:
        return text
    kept = text[: limit - len(_MORE) + 1]
    words = (kept.rsplit(" ", 1)[0] if " " in kept else kept[:-1]).split(" ")
    while len(words) > 1 and known is not None and known.says_little((words_of(words[-1]) or ["-"])[-1]):
        words.pop()
    return _trimmed(" ".join(words)) + _MORE


def _sentence_case(text: str) -> str:
    if text.isupper() and " " in text:
        text = text.lower()
    first = text[:1].upper()
    # Some letters become two or more when they change; the limit stands.
    return (first + text[1:])[:TITLE_CHARACTERS] if len(first) == 1 else text[:TITLE_CHARACTERS]
