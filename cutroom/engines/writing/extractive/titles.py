"""Writes titles in five styles from templates filled with quotes and key phrases."""

import re
from collections.abc import Callable, Iterator, Sequence

from cutroom.engines.errors import UnsuitableInputError
from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.keyphrases import Keyphrase
from cutroom.engines.writing.extractive.quotes import capitalized, shortened, split_clauses, without_final_stop
from cutroom.engines.writing.extractive.speech_patterns import NEGATIONS, speech_patterns
from cutroom.engines.writing.extractive.templates import templates
from cutroom.engines.writing.port import TITLE_CHARACTERS, TitleStyle
from cutroom.text.vocabulary import starts_with_back_reference, words_of
from cutroom.text.writing_systems import primary_language

LIST_PHRASES = 3
LATE_SHARE = 0.55  # of the sentences, after which a mention counts as late
LATE_COUNT = 1.9
QUOTE_CHARACTERS = 52
QUOTE_WORDS = range(3, 13)
MAX_VALUES = 12  # tried per template field
_FIELD = re.compile(r"\{(\w+)\}")


def write_title(analysis: TranscriptAnalysis, *, style: TitleStyle) -> str:
    """The first template of the style that can be filled, fits, and passes the checks."""
    if style is TitleStyle.INFORMATIONAL and analysis.announced_topic is not None:
        text = analysis.announced_topic.within(TITLE_CHARACTERS, language=analysis.language)
        if text and analysis.allows(text):
            return text
    fields = TemplateFields(analysis)
    for template in templates(analysis.language).titles[style]:
        for text in fields.fill(template):
            if len(text) <= TITLE_CHARACTERS and analysis.allows(text):
                return text
    return _fallback_title(analysis)


def _fallback_title(analysis: TranscriptAnalysis) -> str:
    """The best sentence, shortened if necessary."""
    for at in sorted(range(len(analysis.sentences)), key=lambda at: (-analysis.scores[at], at)):
        text = without_final_stop(analysis.sentences[at].text)
        text = shortened(text, TITLE_CHARACTERS, language=analysis.language)
        if text and analysis.allows(text):
            return capitalized(text)
    raise UnsuitableInputError("no_title", "No sentence of this video fits into a title.")


class TemplateFields:
    """Values of template fields, computed on demand."""

    def __init__(self, analysis: TranscriptAnalysis) -> None:
        self._analysis = analysis
        self._topic = main_topic(analysis)
        self._sources: dict[str, Callable[[], Iterator[str]]] = {
            "topic": lambda: self._topics(lambda phrase: phrase.with_article),
            "Topic": lambda: self._topics(lambda phrase: capitalized(phrase.text)),
            "The": lambda: self._topics(lambda phrase: capitalized(phrase.with_article)),
            "list": self._lists,
            "late": self._late,
            "lively": lambda: self._quotes(speech_patterns(analysis.language).lively),
            "danger": lambda: self._quotes(speech_patterns(analysis.language).danger),
            "mystery": lambda: self._quotes(speech_patterns(analysis.language).mystery),
            "short": self._short,
            "strong": lambda: self._quotes(speech_patterns(analysis.language).strong),
            "question": self._questions,
        }

    def fill(self, template: str) -> Iterator[str]:
        """The template filled with every combination of values, best first."""
        names = _FIELD.findall(template)
        filled = [template]
        for name in names:
            values = list(self._sources[name]())[:MAX_VALUES]
            filled = [text.replace(f"{{{name}}}", value) for text in filled for value in values]
        # Skips titles that mention the topic twice, as a quote may.
        head = 0 if speech_patterns(self._analysis.language).head_first else -1
        name = self._topic.text.lower().split()[head] if self._topic is not None else ""
        yield from (text for text in filled if not name or text.lower().count(name) <= 1)

    def _topics(self, form: Callable[[Keyphrase], str]) -> Iterator[str]:
        if self._topic is not None:
            yield form(self._topic)

    def _others(self) -> list[Keyphrase]:
        return [each for each in self._analysis.phrases[:8] if self._topic is None or each.key != self._topic.key]

    def _lists(self) -> Iterator[str]:
        """The top three key phrases besides the topic, then the top two."""
        others = [each.with_article for each in self._others()]
        for count in range(min(LIST_PHRASES, len(others)), 1, -1):
            yield join_list(others[:count], language=self._analysis.language)

    def _late(self) -> Iterator[str]:
        """Phrases that are mentioned mostly towards the end."""
        analysis = self._analysis
        late_start = round(len(analysis.sentences) * LATE_SHARE)
        for phrase in analysis.phrases[:25]:
            if self._topic is not None and phrase.key == self._topic.key:
                continue
            places = [at for at, each in enumerate(analysis.sentences) if set(phrase.key) <= set(each.stems)]
            if phrase.count < LATE_COUNT or not (phrase.article or phrase.is_name or " " in phrase.text):
                continue
            if places and sum(at >= late_start for at in places) * 3 > len(places) * 2:
                yield phrase.with_article

    def _quotes(self, pattern: re.Pattern[str]) -> Iterator[str]:
        """Short clauses that suit the style, by score."""
        analysis = self._analysis
        found: list[tuple[float, int, str]] = []
        for at, sentence in enumerate(analysis.sentences):
            if sentence.is_housekeeping or sentence.is_question or not pattern.search(sentence.text):
                continue
            for number, text in enumerate(split_clauses(sentence.text, language=analysis.language)):
                quote = without_final_stop(text)
                match = pattern.search(text)
                stands_alone = number < 2 or _starts_with_subordinator(sentence.text, language=analysis.language)
                if (
                    match
                    and _suits_style(text, match)
                    and _is_quotable(quote, language=analysis.language, stands_alone=stands_alone)
                ):
                    factor = 0.5 if starts_with_back_reference(quote, language=analysis.language) else 1.0
                    found.append(
                        (-(0.3 + analysis.scores[at]) * factor * (1.2 if text == sentence.text else 1.0), at, quote)
                    )
        yield from (quote for _, _, quote in sorted(found))

    def _short(self) -> Iterator[str]:
        """Short complete sentences, by score."""
        analysis = self._analysis
        order = sorted(range(len(analysis.sentences)), key=lambda at: (-analysis.scores[at], at))
        for sentence in (analysis.sentences[at] for at in order):
            is_statement = not sentence.is_question and not sentence.is_housekeeping and sentence.is_complete
            if is_statement and sentence.word_count in QUOTE_WORDS:
                yield without_final_stop(sentence.text)

    def _questions(self) -> Iterator[str]:
        analysis = self._analysis
        why = speech_patterns(analysis.language).why
        order = sorted(
            range(len(analysis.sentences)),
            key=lambda at: (why.search(analysis.sentences[at].text) is None, -analysis.scores[at], at),
        )
        for each in (analysis.sentences[at] for at in order):
            if not each.is_question or each.is_housekeeping or each.word_count not in QUOTE_WORDS:
                continue
            if len(each.text) <= QUOTE_CHARACTERS and "," not in each.text:
                yield each.text


def main_topic(analysis: TranscriptAnalysis) -> Keyphrase | None:
    """The best key phrase, or one of the best that is part of the announced topic."""
    if not analysis.phrases:
        return None
    best = analysis.phrases[0]
    if analysis.announced_topic is not None:
        announced = set(analysis.sentences[analysis.announced_topic.sentence].stems)
        near = [each for each in analysis.phrases[:5] if set(each.key) <= announced and each.score > 0.4 * best.score]
        best = near[0] if near else best
    return best


def join_list(items: Sequence[str], *, language: str) -> str:
    joiner = speech_patterns(language).joiner
    if primary_language(language) == "ja":
        return "、".join(items)
    if not joiner or len(items) == 1:
        return ", ".join(items)
    return f"{', '.join(items[:-1])} {joiner} {items[-1]}"


def _starts_with_subordinator(text: str, *, language: str) -> bool:
    """As in "when it rains, the road floods", where the last clause can stand alone."""
    return (text.split() or [""])[0].lower() in speech_patterns(language).subordinators


def _suits_style(text: str, match: re.Match[str]) -> bool:
    """Whether the matched word is neither negated nor the whole text."""
    before = text[: match.start()].lower().split()[-3:]
    return not NEGATIONS & set(before) and (match.start() > 0 or match.end() - match.start() > 6)


def _is_quotable(text: str, *, language: str, stands_alone: bool) -> bool:
    """Whether the text is short and starts like a main clause."""
    count = len(words_of(text))
    if primary_language(language) in {"ja", "zh"}:
        return 4 <= len(text) <= 30
    first = (text.split() or [""])[0].lower()
    patterns = speech_patterns(language)
    dangling = first in patterns.subordinators
    starts_clause = stands_alone or first in patterns.articles or first in patterns.before_verb - patterns.before_noun
    return starts_clause and count in QUOTE_WORDS and len(text) <= QUOTE_CHARACTERS and not dangling
