"""Finds the topic that a speaker announces, which often is the best title."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.engines.writing.extractive.quotes import capitalized, shortened
from cutroom.engines.writing.extractive.sentences import TranscriptSentence
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.text.vocabulary import stems
from cutroom.text.writing_systems import primary_language

SEARCHED_SHARE = 0.15  # of the sentences, from the start
MIN_SEARCHED = 6
MIN_STEMS = 2
_INFLECTED = re.compile(r"(?:den|dem|des|einen|einem|einer) ")  # German cases that do not suit a title
_CLAUSE = re.compile(r"\s*[,;:.!?…]\s*|\s*[。、]")


@dataclass(frozen=True, slots=True)
class AnnouncedTopic:
    """The topic as it was said, without final punctuation; `is_how` marks "how to", "why" and similar."""

    text: str
    is_how: bool
    sentence: int

    def within(self, limit: int, *, language: str) -> str:
        """As many clauses as fit the limit, else a shortened first clause; empty if too little is left."""
        parts = _CLAUSE.split(self.text)
        for count in range(len(parts), 0, -1):
            text = self.text if count == len(parts) else _first_clauses(self.text, count)
            if len(text) <= limit:
                return capitalized(text)
        text = capitalized(shortened(parts[0], limit, language=language))
        return text if len(stems(text, language=language)) >= MIN_STEMS else ""


def find_announced_topic(sentences: Sequence[TranscriptSentence], *, language: str) -> AnnouncedTopic | None:
    patterns = speech_patterns(language)
    searched = sentences[: max(MIN_SEARCHED, round(len(sentences) * SEARCHED_SHARE))]
    for pattern, is_how in ((patterns.how, True), (patterns.about, False)):
        for at, sentence in enumerate(searched):
            if sentence.is_question:
                continue
            if (
                (match := pattern.search(sentence.text))
                and not _INFLECTED.match(match["rest"] or "")
                and (text := _cleaned(match, language=language))
            ):
                return AnnouncedTopic(text, is_how, at)
    return None


def _cleaned(match: re.Match[str], *, language: str) -> str:
    text = announced_text(match, language=language).strip(" .,;:!?…。、")
    if primary_language(language) in {"ja", "zh"}:
        return text if len(text) >= 3 else ""
    return text if len(stems(text, language=language)) >= MIN_STEMS else ""


def announced_text(match: re.Match[str], *, language: str) -> str:
    """The announced text, with the article of a contraction before it: "del puente" becomes "el puente"."""
    name = next(name for name, text in match.groupdict().items() if text is not None)
    before = match.string[: match.start(name)].split()
    article = dict(speech_patterns(language).contractions).get(before[-1].lower() if before else "", "")
    return f"{article} {match[name]}" if article else match[name]


def _first_clauses(text: str, count: int) -> str:
    at = 0
    for match in list(_CLAUSE.finditer(text))[:count]:
        at = match.start()
    return text[:at]
