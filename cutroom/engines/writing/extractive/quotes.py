"""Cleans spoken sentences for reading: removes fillers, false starts and discourse markers."""

# ruff: noqa: RUF001 - punctuation of many scripts

import re
from collections.abc import Sequence
from functools import lru_cache

from cutroom.engines.writing.extractive.speech_patterns import SpeechPatterns, speech_patterns
from cutroom.text.vocabulary import clean_text, vocabulary
from cutroom.text.writing_systems import SENTENCE_MARKS, is_unspaced, primary_language, strip_closing_marks

MAX_REPEATED_WORDS = 4  # of a false start
_BROKEN_OFF = re.compile(r"\b[^\W\d_]{1,12}(?:-|–|—|\.\.\.|…) (?=[^\W\d_])")
_DOTTED = re.compile(r"\b[^\W\d_]\.[^\W\d_]\.$")  # as in "a.m."
_DASHES = re.compile(r"\s*(?:--+|[–—])\s*")
_COMMAS = re.compile(r"(?:\s*[,、，]){2,}")
_BEFORE_MARK = re.compile(r"\s+([,.;:!?…])")
# Repeated for emphasis.
_EMPHATIC = frozenset({"very", "no", "muito", "muy", "très", "sehr", "molto", "so", "bye", "ha", "that", "had"})
_PARTICLES = frozenset({"up", "down", "out", "off", "away", "back"})  # of a verb: "the internet is down"
_QUOTATION_MARKS = {"fr": ("« ", " »"), "de": ("„", "“"), "ja": ("「", "」")}
_LEADING = " ,;:.-–—、，。…"
_PHRASE = rf"[^\W\d_][\w'’]*(?: [^\W\d_][\w'’]*){{0,{MAX_REPEATED_WORDS - 1}}}"
_REPEATED = re.compile(rf"(?<![\w'’])(?P<spoken>{_PHRASE}),? ?[,…-]? (?P=spoken)(?![\w'’])", re.IGNORECASE)


def clean_quote(text: str, *, language: str) -> str:
    """The sentence as it may be quoted; only words are removed, and the start is capitalized."""
    patterns = speech_patterns(language)
    text = patterns.greetings.sub("", clean_text(text)) or clean_text(text)
    text = _BROKEN_OFF.sub("", text) if not text.isascii() or "-" in text or "…" in text or "..." in text else text
    text = _without_fillers(_without_openers(text, patterns), patterns)
    text = _without_restarts(text, patterns)
    text = _without_repeats(text, language=language)
    text = _tidy(text)
    return capitalized(_without_openers(text, patterns))


def capitalized(text: str) -> str:
    """With a capital first letter, if the script has case and the length does not change."""
    at = next((at for at, each in enumerate(text[:3]) if each.isalnum()), 0)
    first = text[at : at + 1].upper()
    return text[:at] + first + text[at + 1 :] if len(first) == 1 else text


def drop_trailing_function_words(words: Sequence[str], *, language: str) -> list[str]:
    """Removes trailing words that need a continuation: articles, prepositions, conjunctions."""
    function_words, patterns = vocabulary(language), speech_patterns(language)
    kept = list(words)
    while len(kept) > 1:
        last = kept[-1].strip(_LEADING).lower()
        if last in _PARTICLES or (last and not function_words.is_stop_word(last) and last not in patterns.before_noun):
            break
        kept.pop()
    return kept


def without_final_stop(text: str) -> str:
    """Without a final full stop; question and exclamation marks stay."""
    end = strip_closing_marks(text)
    if _DOTTED.search(end):
        return end
    return (
        end.rstrip(".。｡,;:、 ") if end[-1:] in SENTENCE_MARKS | {",", ";", ":"} and end[-1:] not in "?!？！" else text
    )


def with_final_stop(text: str, *, language: str) -> str:
    if text[-1:].isalnum() or text[-1:] in ",;:":
        return without_final_stop(text) + ("。" if primary_language(language) in {"ja", "zh"} else ".")
    return text


def quoted(text: str, *, language: str) -> str:
    """In the quotation marks of the language."""
    left, right = _QUOTATION_MARKS.get(primary_language(language), ("“", "”"))
    return f"{left}{text}{right}"


def _without_fillers(text: str, patterns: SpeechPatterns) -> str:
    if not text or any(map(is_unspaced, text)):
        for each in sorted(patterns.hesitations, key=len, reverse=True):
            text = re.sub(rf"(?:^|(?<=[、。，])){each}[、，]?", "", text)
        for each in patterns.asides:
            text = re.sub(rf"(?:^|(?<=[、，])){each}[、，]", "", text)
        return text
    hesitation, aside = _filler_patterns(patterns)
    text = hesitation.sub(_keep_one_comma, text)
    return aside.sub(_keep_one_comma, text)


def _keep_one_comma(match: re.Match[str]) -> str:
    """Two commas around a removed word belonged to it; a single one may belong to the sentence."""
    before, after = match["before"], match["after"]
    if after in ".!?":
        return after
    return " " if before.strip() and after.strip() else (before or after).strip() + " "


@lru_cache(maxsize=64)
def _filler_patterns(patterns: SpeechPatterns) -> tuple[re.Pattern[str], re.Pattern[str]]:
    sounds = "|".join(map(re.escape, sorted(patterns.hesitations))) or "(?!)"
    asides = "|".join(map(re.escape, sorted(patterns.asides, key=len, reverse=True))) or "(?!)"
    around = r"(?P<before>,\s*|^|(?<=\s))(?:{0})(?P<after>\s*,\s*|\s+|(?=[.!?])|$)"
    between = r"(?P<before>,\s*|^)(?:{0})(?P<after>\s*,\s*|(?=[.!?]))"
    return (
        re.compile(around.replace("{0}", sounds), re.IGNORECASE),
        re.compile(between.replace("{0}", asides), re.IGNORECASE),
    )


def _without_restarts(text: str, patterns: SpeechPatterns) -> str:
    """Removes the text before a correction if the speaker starts over."""
    for word in patterns.corrections:
        match = re.search(rf"[,、]\s*{re.escape(word)}\s*[,、]\s*", text, re.IGNORECASE)
        if match is None:
            continue
        before, after = text[: match.start()], text[match.end() :]
        if before.split()[:1] and after.split()[:1] and before.split()[0].lower() == after.split()[0].lower():
            return after
    return text


def _without_repeats(text: str, *, language: str) -> str:
    """ "I was, I was late" is a false start; "very, very late" and "look at it, it shines" are not."""
    function_words, patterns = vocabulary(language), speech_patterns(language)

    def once(match: re.Match[str]) -> str:
        spoken = match["spoken"]
        word = spoken.lower()
        needs_noun = word in patterns.before_noun or word in patterns.asides or word in patterns.articles
        is_stutter = "," not in match.group() and function_words.is_stop_word(word) and word not in _EMPHATIC
        return spoken if " " in spoken or needs_noun or is_stutter else match.group()

    return _REPEATED.sub(once, text)


def _tidy(text: str) -> str:
    text = _DASHES.sub(" – ", text) if _DASHES.search(text) else text
    text = _COMMAS.sub(",", text) if "," in text else text
    return " ".join(_BEFORE_MARK.sub(r"\1", text).split()).lstrip(_LEADING)


def _without_openers(text: str, patterns: SpeechPatterns) -> str:
    """Removes discourse markers at the start."""
    for _ in range(4):
        match = re.match(r"(?P<open>[¿¡]?)(?P<word>[\w'’]+)(?P<comma>\s*[,、，])?\s*", text)
        if match is None or match.end() == len(text):
            break
        word = match["word"].lower()
        if word not in patterns.openers and not (word in patterns.comma_openers and match["comma"]):
            break
        text = match["open"] + text[match.end() :].lstrip(_LEADING)
    return text
