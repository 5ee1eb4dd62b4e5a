"""What the speaker says that the film is about, where one says it: the best title is often already spoken."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.engines.writing.extractive.quotes import capitalised, shortened
from cutroom.engines.writing.extractive.sentences import Sentence
from cutroom.engines.writing.extractive.speech import speech
from cutroom.text.vocabulary import stems
from cutroom.text.writing_systems import base_of

SEARCHED_SHARE = 0.15  # of the sentences, from the start
SEARCHED_LEAST = 6
MIN_STEMS = 2
_BENT = re.compile(r"(?:den|dem|des|einen|einem|einer) ")  # German, not as a title has it
_CLAUSE = re.compile(r"\s*[,;:.!?…]\s*|\s*[。、]")


@dataclass(frozen=True, slots=True)
class Subject:
    """As it was said, without a mark at its end; `is_how` begins with "how to", "why" or the like."""

    text: str
    is_how: bool
    sentence: int

    def within(self, limit: int, *, language: str) -> str:
        """As much of it as fits, whole clauses first; nothing where that would say too little."""
        parts = _CLAUSE.split(self.text)
        for count in range(len(parts), 0, -1):
            text = self.text if count == len(parts) else _head(self.text, count)
            if len(text) <= limit:
                return capitalised(text)
        text = capitalised(shortened(parts[0], limit, language=language))
        return text if len(stems(text, language=language)) >= MIN_STEMS else ""


def subject_of(sentences: Sequence[Sentence], *, language: str) -> Subject | None:
    known = speech(language)
    searched = sentences[: max(SEARCHED_LEAST, round(len(sentences) * SEARCHED_SHARE))]
    for pattern, is_how in ((known.how, True), (known.about, False)):
        for at, sentence in enumerate(searched):
            if sentence.asks:
                continue
            if (
                (match := pattern.search(sentence.text))
                and not _BENT.match(match["rest"] or "")
                and (text := _cleaned(match, language=language))
            ):
                return Subject(text, is_how, at)
    return None


def _cleaned(match: re.Match[str], *, language: str) -> str:
    text = rest_of(match, language=language).strip(" .,;:!?…。、")
    if base_of(language) in {"ja", "zh"}:
        return text if len(text) >= 3 else ""
    return text if len(stems(text, language=language)) >= MIN_STEMS else ""


def rest_of(match: re.Match[str], *, language: str) -> str:
    """What was announced, with the article that was part of the word before it: "del puente" is "el puente"."""
    name = next(name for name, text in match.groupdict().items() if text is not None)
    before = match.string[: match.start(name)].split()
    article = dict(speech(language).contracted).get(before[-1].lower() if before else "", "")
    return f"{article} {match[name]}" if article else match[name]


def _head(text: str, clauses: int) -> str:
    at = 0
    for match in list(_CLAUSE.finditer(text))[:clauses]:
        at = match.start()
    return text[:at]
