"""Makes speech fit to be read: without sounds that say nothing, false starts, and words that only open a turn."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import re
from collections.abc import Sequence
from functools import lru_cache

from cutroom.engines.writing.extractive.speech import SpeechPatterns, speech
from cutroom.text.vocabulary import clean_text, vocabulary
from cutroom.text.writing_systems import SENTENCE_MARKS, bare, unspaced

MAX_REPEATED_WORDS = 4  # of a false start
_CUT_OFF = re.compile(r"\b[^\W\d_]{1,12}(?:-|–|—|\.\.\.|…) (?=[^\W\d_])")
_DASHES = re.compile(r"\s*(?:--+|[–—])\s*")
_COMMAS = re.compile(r"(?:\s*[,、，]){2,}")
_BEFORE_MARK = re.compile(r"\s+([,.;:!?…])")
# Said twice to say more.
_EMPHATIC = frozenset({"very", "no", "muito", "muy", "très", "sehr", "molto", "so", "bye", "ha", "that", "had"})
_LEADING = " ,;:.-–—、，。…"
_AGAIN = rf"[^\W\d_][\w'’]*(?: [^\W\d_][\w'’]*){{0,{MAX_REPEATED_WORDS - 1}}}"
_REPEATED = re.compile(rf"(?<![\w'’])(?P<said>{_AGAIN}),? ?[,…-]? (?P=said)(?![\w'’])", re.IGNORECASE)


def quotable(text: str, *, language: str) -> str:
    """The sentence as it may be shown; nothing is added to it but a capital at its start."""
    known = speech(language)
    text = known.greetings.sub("", clean_text(text)) or clean_text(text)
    text = _CUT_OFF.sub("", text) if not text.isascii() or "-" in text or "…" in text or "..." in text else text
    text = _without_words(_opened(text, known), known)
    text = _corrected(text, known)
    text = _without_repeats(text, language=language)
    text = _tidy(text)
    return capitalised(_opened(text, known))


def capitalised(text: str) -> str:
    """With a capital at the start, where the script has them and the change is one letter."""
    at = next((at for at, each in enumerate(text[:3]) if each.isalnum()), 0)
    first = text[at : at + 1].upper()
    return text[:at] + first + text[at + 1 :] if len(first) == 1 else text


def shortened(text: str, limit: int, *, language: str) -> str:
    """As many whole words as fit, none of the last of them a small one; no sign that more was said."""
    if len(text) <= limit:
        return text
    kept = text[: limit + 1]
    words = (kept.rsplit(" ", 1)[0] if " " in kept else kept[:-1]).split(" ")
    return " ".join(without_small_end(words, language=language)).rstrip(_LEADING + "¿¡(«“")


def without_small_end(words: Sequence[str], *, language: str) -> list[str]:
    """Words without those at the end that lead on to others: articles, prepositions, "and"."""
    small, known = vocabulary(language), speech(language)
    left = list(words)
    while len(left) > 1:
        last = left[-1].strip(_LEADING).lower()
        if last and not small.says_little(last) and last not in known.before_noun:
            break
        left.pop()
    return left


def clauses(text: str, *, language: str) -> list[str]:
    """The sentence itself and the clauses that it is made of, without the words that join them."""
    known = speech(language)
    parts = re.split(r"(?<=[,;:])\s+|(?<=[、，；])", text)
    if len(parts) == 1:
        return [text]
    return [text, *(capitalised(_opened(part.strip(_LEADING), known)) for part in parts)]


def unmarked(text: str) -> str:
    """Without the full stop at its end; questions and calls keep their mark."""
    end = bare(text)
    return (
        end.rstrip(".。｡,;:、 ") if end[-1:] in SENTENCE_MARKS | {",", ";", ":"} and end[-1:] not in "?!？！" else text
    )


def _without_words(text: str, known: SpeechPatterns) -> str:
    if not text or any(map(unspaced, text)):
        for each in sorted(known.hesitations, key=len, reverse=True):
            text = re.sub(rf"(?:^|(?<=[、。，])){each}[、，]?", "", text)
        for each in known.asides:
            text = re.sub(rf"(?:^|(?<=[、，])){each}[、，]", "", text)
        return text
    hesitation, aside = _patterns(known)
    text = hesitation.sub(_one_comma, text)
    return aside.sub(_one_comma, text)


def _one_comma(match: re.Match[str]) -> str:
    """Two commas around what is dropped belonged to it; one alone may belong to the sentence."""
    before, behind = match["before"], match["behind"]
    if behind in ".!?":
        return behind
    return " " if before.strip() and behind.strip() else (before or behind).strip() + " "


@lru_cache(maxsize=64)
def _patterns(known: SpeechPatterns) -> tuple[re.Pattern[str], re.Pattern[str]]:
    sounds = "|".join(map(re.escape, sorted(known.hesitations))) or "(?!)"
    asides = "|".join(map(re.escape, sorted(known.asides, key=len, reverse=True))) or "(?!)"
    around = r"(?P<before>,\s*|^|(?<=\s))(?:{0})(?P<behind>\s*,\s*|\s+|(?=[.!?])|$)"
    between = r"(?P<before>,\s*|^)(?:{0})(?P<behind>\s*,\s*|(?=[.!?]))"
    return (
        re.compile(around.replace("{0}", sounds), re.IGNORECASE),
        re.compile(between.replace("{0}", asides), re.IGNORECASE),
    )


def _corrected(text: str, known: SpeechPatterns) -> str:
    """What a speaker takes back, in order to say it in another way, is dropped."""
    for word in known.corrections:
        match = re.search(rf"[,、]\s*{re.escape(word)}\s*[,、]\s*", text, re.IGNORECASE)
        if match is None:
            continue
        before, behind = text[: match.start()], text[match.end() :]
        if before.split()[:1] and behind.split()[:1] and before.split()[0].lower() == behind.split()[0].lower():
            return behind
    return text


def _without_repeats(text: str, *, language: str) -> str:
    """ "I was, I was late" begins twice; "very, very late" and "look at it, it shines" do not."""
    small, known = vocabulary(language), speech(language)

    def once(match: re.Match[str]) -> str:
        said = match["said"]
        word = said.lower()
        leads_on = word in known.before_noun or word in known.asides or word in known.articles
        stutters = "," not in match.group() and small.says_little(word) and word not in _EMPHATIC
        return said if " " in said or leads_on or stutters else match.group()

    return _REPEATED.sub(once, text)


def _tidy(text: str) -> str:
    text = _DASHES.sub(" – ", text) if _DASHES.search(text) else text
    text = _COMMAS.sub(",", text) if "," in text else text
    return " ".join(_BEFORE_MARK.sub(r"\1", text).split()).lstrip(_LEADING)


def _opened(text: str, known: SpeechPatterns) -> str:
    """Without words at the start that only take the turn."""
    for _ in range(4):
        match = re.match(r"(?P<open>[¿¡]?)(?P<word>[\w'’]+)(?P<comma>\s*[,、，])?\s*", text)
        if match is None or match.end() == len(text):
            break
        word = match["word"].lower()
        if word not in known.openers and not (word in known.comma_openers and match["comma"]):
            break
        text = match["open"] + text[match.end() :].lstrip(_LEADING)
    return text
