"""Writes extractive titles, descriptions and reasons for moments."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import re
from collections.abc import Iterator, Sequence

from cutroom.products.transcripts.subtitling.line_breaking import BreakPoint, break_points
from cutroom.text.discourse import (
    SentenceDiscourse,
    discourse_markers,
    is_strong_statement,
    names_in,
)
from cutroom.text.vocabulary import Vocabulary, clean_text, vocabulary, words_of
from cutroom.text.writing_systems import SENTENCE_MARKS

TITLE_CHARACTERS = 80
DESCRIPTION_CHARACTERS = 300
DESCRIPTION_SENTENCES = 3
MIN_TITLE_WORDS = 4  # of a clause that says something
BEST_TITLE_WORDS = 8
QUESTION_BONUS = 0.3
STRONG_BONUS = 0.2
COURTESY_COST = 2.0
NOUN_PHRASE_WORDS = 4
REASON_FEATURES = 2

_CLAUSE_END = re.compile(r"[,;:–—](?=\s)|[，、；：]")
_ABBREVIATION = re.compile(r"(?:^|\W)\w\.(?:\w\.)+$")
_TRIMMED_CHARACTERS = " \t,;:–—-.…\"'“”‘’«»()[]，、；：。"
_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"))
_WITHOUT_QUOTES = dict.fromkeys(map(ord, "\"'“”‘’«»"))
_ELLIPSIS = "…"
_QUESTIONS = ("?", "？", "؟")


def make_title(texts: Sequence[str], scores: Sequence[float], *, language: str, fallback: str) -> str:
    """The best sentence or leading clause that is understood on its own, else another one, else a beginning."""
    writer = _TitleWriter(texts, language)
    ranked = sorted(range(len(texts)), key=lambda index: (-scores[index] - writer.fitness(index), index))
    for standalone in (True, False):
        for make_titles in (writer.sentence, writer.clauses):
            for index in ranked:
                for title in make_titles(index):
                    if not standalone or writer.is_standalone(title):
                        return title
    return next(filter(None, map(writer.beginning, ranked)), fallback)


def make_description(texts: Sequence[str], *, language: str) -> str:
    """The first sentences verbatim, without greetings and thanks; the beginning of the first if it is too long."""
    cleaned = [text for text in map(clean_text, texts) if text]
    relevant = [text for text in cleaned if not SentenceDiscourse(text, language=language).is_courtesy] or cleaned
    chosen: list[str] = []
    for text in relevant[:DESCRIPTION_SENTENCES]:
        if len(" ".join([*chosen, text])) > DESCRIPTION_CHARACTERS:
            break
        chosen.append(text)
    if not chosen and relevant:
        return _shortened(relevant[0], DESCRIPTION_CHARACTERS, language=language)
    return " ".join(chosen)


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


class _TitleWriter:
    """Makes titles from the sentences of one moment."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._language = language
        self._vocabulary: Vocabulary = vocabulary(language)
        self._names = names_in(texts)
        self._texts = [self._without_fillers(clean_text(text)) for text in texts]

    def fitness(self, index: int) -> float:
        """Prefers titles of moderate length, questions and strong statements."""
        text = self._texts[index]
        bonus = QUESTION_BONUS if text.endswith(_QUESTIONS) else 0.0
        bonus += STRONG_BONUS if is_strong_statement(text, language=self._language) else 0.0
        bonus -= COURTESY_COST if SentenceDiscourse(text, language=self._language).is_courtesy else 0.0
        return bonus - 0.03 * abs(len(words_of(text)) - BEST_TITLE_WORDS)

    def is_standalone(self, title: str) -> bool:
        parsed = SentenceDiscourse(title, language=self._language, names=self._names)
        return not (parsed.depends_on_previous or parsed.is_reaction or parsed.is_courtesy)

    def sentence(self, index: int) -> Iterator[str]:
        text = self._texts[index]
        title = _trimmed(text)
        is_phrase = self._is_subordinate(text) and not _CLAUSE_END.search(text) and not text.endswith(_QUESTIONS)
        if text[-1:] in SENTENCE_MARKS and self._is_clause(title) and not is_phrase:
            yield _sentence_case(title)

    def clauses(self, index: int) -> Iterator[str]:
        """Leading clauses with their introductory phrase, the longest first; a question is not cut."""
        text = self._texts[index]
        commas = [match.start() for match in _CLAUSE_END.finditer(text)]
        ends = sorted({*commas, *self._conjunction_starts(text)}, reverse=True)
        if self._is_subordinate(text):
            ends = [end for end in ends if commas and end > commas[0]]
        for end in ends if not text.endswith(_QUESTIONS) else ():
            title = _trimmed(text[:end])
            words = words_of(title)
            if self._is_clause(title) and not self._vocabulary.is_stop_word(words[-1]):
                yield _sentence_case(title)

    def beginning(self, index: int) -> str:
        return _sentence_case(_shortened(_trimmed(self._texts[index]), TITLE_CHARACTERS, language=self._language))

    def _is_clause(self, title: str) -> bool:
        """Long enough to say something, and more than a name."""
        words = words_of(title)
        is_name = all(word in self._names or self._vocabulary.is_stop_word(word) for word in words)
        return len(words) >= MIN_TITLE_WORDS and len(title) <= TITLE_CHARACTERS and not (is_name and self._names)

    def _conjunction_starts(self, text: str) -> Iterator[int]:
        """Where a title may be cut because a conjunction follows a noun, except in a range such as "9 and 11"."""
        markers = discourse_markers(self._language)
        for match in re.finditer(r"(?<=\D )[^\W\d_]+(?= \D)", text):
            before = text[: match.start()].lower().split()[-NOUN_PHRASE_WORDS:-1]
            ends_with_noun = any(word in markers.determiners or word[0].isdigit() for word in before)
            if match.group().lower() in markers.conjunctions and ends_with_noun:
                yield match.start()

    def _is_subordinate(self, text: str) -> bool:
        return SentenceDiscourse(text, language=self._language).is_subordinate

    def _without_fillers(self, text: str) -> str:
        fillers = self._vocabulary.fillers
        while (parts := text.split(" ", 1))[1:] and parts[0].strip(_TRIMMED_CHARACTERS).lower() in fillers:
            text = parts[1]
        return text


def _trimmed(text: str) -> str:
    text = text.strip()
    if _quotes_a_part(text):
        return text.rstrip(_TRIMMED_CHARACTERS.translate(_WITHOUT_QUOTES))
    text = text.lstrip(_TRIMMED_CHARACTERS + "!?")
    return text if _ABBREVIATION.search(text) else text.rstrip(_TRIMMED_CHARACTERS)


def _quotes_a_part(text: str) -> bool:
    """Whether a quotation at an end of the text needs both of its marks: '"Wait," she said'."""
    outer = text.strip(_TRIMMED_CHARACTERS + "!?")
    return any(
        (outer.count(opening) + outer.count(closing) * (opening != closing)) == 1 for opening, closing in _QUOTES
    )


def _shortened(text: str, limit: int, *, language: str) -> str:
    """Truncates before a phrase if possible, else between words, and adds an ellipsis."""
    if len(text) <= limit:
        return text
    words = text[: limit - len(_ELLIPSIS) + 1].split(" ")
    following = text[len(" ".join(words)) :].partition(" ")[0]
    if len(words) == 1:
        return words[0][: limit - len(_ELLIPSIS)] + _ELLIPSIS
    words[-1] += following
    breaks = break_points(words, glued=[False] * len(words), language=language)
    determiners = discourse_markers(language).determiners
    starts_phrase = [quality <= BreakPoint.PHRASE for quality in breaks]
    for at, quality in enumerate(breaks):
        starts_phrase[at] |= quality < BreakPoint.AVOID and words[at + 1].lower() in determiners
    ends = [at for at, starts in enumerate(starts_phrase, start=1) if starts and 2 * at > len(words)]
    return _trimmed(" ".join(words[: ends[-1] if ends else len(words) - 1])) + _ELLIPSIS


def _sentence_case(text: str) -> str:
    if text.isupper() and " " in text:
        text = text.lower()
    first = text[:1].upper()
    # Uppercasing may lengthen some letters; enforce the limit.
    return (first + text[1:])[:TITLE_CHARACTERS] if len(first) == 1 else text[:TITLE_CHARACTERS]
