"""Finds the subject that a speaker announces, as in "today we're fixing a tap that drips"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.engines.writing.extractive.clauses import MIN_STEMS, cut_before_phrase, stands_alone
from cutroom.engines.writing.extractive.quotes import capitalized
from cutroom.engines.writing.extractive.sentences import TranscriptSentence
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.text.vocabulary import stems
from cutroom.text.writing_systems import primary_language

SEARCHED_SHARE = 0.25  # of the sentences, from the start
MIN_SEARCHED = 6
_INFLECTED = re.compile(r"(?:den|dem|des|einen|einem|einer) ")  # German cases that do not suit a title
# What the speaker adds after the subject.
_ADDED = re.compile(
    r"\s*[;:.!?…。]|,? (?:and|but|so|because|so that) (?:i|you|we|he|she|they|it|there)\b"
    r"|,? (?:e|mas|y|pero|et|mais|ma) (?:eu|você|nós|a gente|yo|tú|nosotros|je|tu|vous|nous|on|io|voi|noi)\b",
    re.IGNORECASE,
)
_CLOSING_ADVERB = re.compile(
    r"\s+(?:today|tonight|now|together|this (?:morning|evening|week)|with you|for you|hoje|hoy"
    r"|aujourd['\u2019]hui|heute|oggi)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AnnouncedSubject:
    """The subject as it was said, without final punctuation, and the index of its sentence."""

    text: str
    sentence: int

    def within(self, limit: int, *, language: str) -> str:
        """The subject, cut before a phrase if it is too long; empty if it cannot be cut."""
        return capitalized(cut_before_phrase(self.text, limit, language=language, min_stems=1))


def find_announced_subject(sentences: Sequence[TranscriptSentence], *, language: str) -> AnnouncedSubject | None:
    patterns = speech_patterns(language)
    announcements = (patterns.how, patterns.doing, patterns.will_do, patterns.subject, patterns.about, patterns.product)
    for pattern in announcements:
        for at in searched(len(sentences)):
            sentence = sentences[at]
            if sentence.is_question or not (match := pattern.search(sentence.text)):
                continue
            if text := _subject(match, language=language):
                return AnnouncedSubject(text, at)
    return None


def searched(count: int) -> range:
    """The sentences that may introduce a video, by index."""
    return range(min(count, max(MIN_SEARCHED, round(count * SEARCHED_SHARE))))


def _subject(match: re.Match[str], *, language: str) -> str:
    name, text = announced_text(match, language=language)
    if name != "product":
        text = _ADDED.split(text, maxsplit=1)[0]
        text = _CLOSING_ADVERB.sub("", text.strip(" .,;:!?…。、"))
    if _INFLECTED.match(text):
        return ""
    if primary_language(language) in {"ja", "zh"}:
        return text if len(text) >= 3 else ""
    enough = name in {"product", "doing", "verb"} or len(stems(text, language=language)) >= MIN_STEMS
    return text if enough and stands_alone(text, language=language) else ""


def announced_text(match: re.Match[str], *, language: str) -> tuple[str, str]:
    """The matched group and its text, with the article of a contraction: "del puente" becomes "el puente"."""
    name = next(name for name, text in match.groupdict().items() if text is not None)
    before = match.string[: match.start(name)].split()
    contractions = dict(each.split("=") for each in speech_patterns(language).contractions)
    article = contractions.get(before[-1].lower() if before else "", "")
    return name, f"{article} {match[name]}" if article else match[name]
