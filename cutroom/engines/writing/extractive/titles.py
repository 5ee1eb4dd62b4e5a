"""One line in each of five styles, made of what was said; a style changes the manner, never the matter."""

import re
from collections.abc import Callable, Iterator, Sequence

from cutroom.engines.errors import EngineError
from cutroom.engines.writing.extractive.keyphrases import Phrase
from cutroom.engines.writing.extractive.quotes import capitalised, clauses, shortened, unmarked
from cutroom.engines.writing.extractive.speech import DENIALS, speech
from cutroom.engines.writing.extractive.study import TranscriptAnalysis
from cutroom.engines.writing.extractive.templates import templates
from cutroom.engines.writing.port import TITLE_CHARACTERS, TitleStyle
from cutroom.text.vocabulary import points_back, words_of
from cutroom.text.writing_systems import base_of

LIST_PHRASES = 3
LATE_SHARE = 0.55  # of the film, after which something comes late
LATE_COUNT = 1.9
QUOTE_CHARACTERS = 52
QUOTE_WORDS = range(3, 13)
MOST_VALUES = 12  # that are tried in one place of a template
_FIELD = re.compile(r"\{(\w+)\}")


def title_of(study: TranscriptAnalysis, *, style: TitleStyle) -> str:
    """The first template of the style that can be filled, fits, and breaks no rule."""
    if style is TitleStyle.INFORMATIONAL and study.subject is not None:
        text = study.subject.within(TITLE_CHARACTERS, language=study.language)
        if text and study.allows(text):
            return text
    fields = Fields(study)
    for template in templates(study.language).titles[style]:
        for text in fields.fill(template):
            if len(text) <= TITLE_CHARACTERS and study.allows(text):
                return text
    return _plain(study)


def _plain(study: TranscriptAnalysis) -> str:
    """What is left where no template can be filled: the best sentence, or its beginning."""
    for at in sorted(range(len(study.sentences)), key=lambda at: (-study.scores[at], at)):
        text = unmarked(study.sentences[at].text)
        text = shortened(text, TITLE_CHARACTERS, language=study.language)
        if text and study.allows(text):
            return capitalised(text)
    raise EngineError("Nothing that is said in this film fits into a title.")


class Fields:
    """What can stand in a template; most of it is worked out only where a template asks for it."""

    def __init__(self, study: TranscriptAnalysis) -> None:
        self._study = study
        self._topic = topic_of(study)
        self._sources: dict[str, Callable[[], Iterator[str]]] = {
            "topic": lambda: self._topics(lambda phrase: phrase.full),
            "Topic": lambda: self._topics(lambda phrase: capitalised(phrase.text)),
            "The": lambda: self._topics(lambda phrase: capitalised(phrase.full)),
            "list": self._lists,
            "late": self._late,
            "lively": lambda: self._quotes(speech(study.language).lively),
            "danger": lambda: self._quotes(speech(study.language).danger),
            "mystery": lambda: self._quotes(speech(study.language).mystery),
            "short": self._short,
            "strong": lambda: self._quotes(speech(study.language).strong),
            "question": self._questions,
        }

    def fill(self, template: str) -> Iterator[str]:
        """The template filled in every way, the best first."""
        names = _FIELD.findall(template)
        filled = [template]
        for name in names:
            values = list(self._sources[name]())[:MOST_VALUES]
            filled = [text.replace(f"{{{name}}}", value) for text in filled for value in values]
        # A quote that names the topic needs no topic beside it.
        head = 0 if speech(self._study.language).head_first else -1
        name = self._topic.text.lower().split()[head] if self._topic is not None else ""
        yield from (text for text in filled if not name or text.lower().count(name) <= 1)

    def _topics(self, form: Callable[[Phrase], str]) -> Iterator[str]:
        if self._topic is not None:
            yield form(self._topic)

    def _others(self) -> list[Phrase]:
        return [each for each in self._study.phrases[:8] if self._topic is None or each.key != self._topic.key]

    def _lists(self) -> Iterator[str]:
        """Three things, or two; they stand without articles, as lists do."""
        others = [each.full for each in self._others()]
        for count in range(min(LIST_PHRASES, len(others)), 1, -1):
            yield listed(others[:count], language=self._study.language)

    def _late(self) -> Iterator[str]:
        """Phrases that belong to the end of the film: most of their mentions are there."""
        study = self._study
        border = round(len(study.sentences) * LATE_SHARE)
        for phrase in study.phrases[:25]:
            if self._topic is not None and phrase.key == self._topic.key:
                continue
            places = [at for at, each in enumerate(study.sentences) if set(phrase.key) <= set(each.stems)]
            if phrase.count < LATE_COUNT or not (phrase.article or phrase.is_name or " " in phrase.text):
                continue
            if places and sum(at >= border for at in places) * 3 > len(places) * 2:
                yield phrase.full

    def _quotes(self, pattern: re.Pattern[str]) -> Iterator[str]:
        """Short clauses that fit the style, those first that say most."""
        study = self._study
        found: list[tuple[float, int, str]] = []
        for at, sentence in enumerate(study.sentences):
            if sentence.serves or sentence.asks or not pattern.search(sentence.text):
                continue
            for number, text in enumerate(clauses(sentence.text, language=study.language)):
                quote = unmarked(text)
                match = pattern.search(text)
                stands_alone = number < 2 or _is_behind_when(sentence.text, language=study.language)
                if match and _fits_style(text, match) and _is_quote(quote, language=study.language, whole=stands_alone):
                    stands = 0.5 if points_back(quote, language=study.language) else 1.0
                    found.append(
                        (-(0.3 + study.scores[at]) * stands * (1.2 if text == sentence.text else 1.0), at, quote)
                    )
        yield from (quote for _, _, quote in sorted(found))

    def _short(self) -> Iterator[str]:
        """Whole sentences that are short enough, the best first; each style begins with another."""
        study = self._study
        order = sorted(range(len(study.sentences)), key=lambda at: (-study.scores[at], at))
        for sentence in (study.sentences[at] for at in order):
            if sentence.words in QUOTE_WORDS and not sentence.asks and not sentence.serves and sentence.is_whole:
                yield unmarked(sentence.text)

    def _questions(self) -> Iterator[str]:
        study = self._study
        why = speech(study.language).why
        order = sorted(
            range(len(study.sentences)),
            key=lambda at: (why.search(study.sentences[at].text) is None, -study.scores[at], at),
        )
        for each in (study.sentences[at] for at in order):
            if not each.asks or each.serves or each.words not in QUOTE_WORDS:
                continue
            if len(each.text) <= QUOTE_CHARACTERS and "," not in each.text:
                yield each.text


def topic_of(study: TranscriptAnalysis) -> Phrase | None:
    """What the film is about: of the best phrases the one that the speaker announces, if one is."""
    if not study.phrases:
        return None
    best = study.phrases[0]
    if study.subject is not None:
        announced = set(study.sentences[study.subject.sentence].stems)
        near = [each for each in study.phrases[:5] if set(each.key) <= announced and each.score > 0.4 * best.score]
        best = near[0] if near else best
    return best


def listed(parts: Sequence[str], *, language: str) -> str:
    joiner = speech(language).joiner
    if base_of(language) == "ja":
        return "、".join(parts)
    if not joiner or len(parts) == 1:
        return ", ".join(parts)
    return f"{', '.join(parts[:-1])} {joiner} {parts[-1]}"


def _is_behind_when(text: str, *, language: str) -> bool:
    """After "when it rains," comes a clause of its own."""
    return (text.split() or [""])[0].lower() in speech(language).subordinators


def _fits_style(text: str, match: re.Match[str]) -> bool:
    """The word that fits the style must not be taken back by a "no", nor be all that is there."""
    before = text[: match.start()].lower().split()[-3:]
    return not DENIALS & set(before) and (match.start() > 0 or match.end() - match.start() > 6)


def _is_quote(text: str, *, language: str, whole: bool) -> bool:
    """Short enough, and a clause of its own: one from the middle of a sentence must begin like one."""
    count = len(words_of(text))
    if base_of(language) in {"ja", "zh"}:
        return 4 <= len(text) <= 30
    first = (text.split() or [""])[0].lower()
    known = speech(language)
    dangling = first in known.subordinators
    begins = whole or first in known.articles or first in known.before_verb - known.before_noun
    return begins and count in QUOTE_WORDS and len(text) <= QUOTE_CHARACTERS and not dangling
