"""Verifies the output of a language model before it is used."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from cutroom.engines.translation.port import LanguageIdentifier
from cutroom.engines.writing.extractive.headings import headings
from cutroom.engines.writing.extractive.quotes import drop_trailing_function_words
from cutroom.engines.writing.groundedness import Evidence, count_words, supported_share, unsupported_claims
from cutroom.engines.writing.guidelines import Guidelines, without_emoji
from cutroom.engines.writing.prompt_injection import has_markup, is_injection
from cutroom.engines.writing.prompts import (
    HEADING_CHARACTERS,
    MAX_SECTIONS,
    MAX_STEPS,
    ArticleResponse,
    StepsResponse,
    WritingTask,
    response_texts,
)
from cutroom.text.placeholders import clean_sentence
from cutroom.text.sentences import split_sentences
from cutroom.text.vocabulary import stems
from cutroom.text.writing_systems import SENTENCE_MARKS, is_unspaced, primary_language

MIN_LETTERS_FOR_LANGUAGE = 40  # shorter texts cannot be identified reliably
MIN_LANGUAGE_CONFIDENCE = 0.7
MIN_SENTENCE_STEMS = 2  # sentences with fewer content words are not checked on their own
MIN_SENTENCE_SUPPORT = 0.4
# Languages that are easily confused in short texts.
_SIMILAR = ({"pt", "gl", "es"}, {"no", "nb", "nn", "da"}, {"hr", "sr", "bs", "sh"}, {"id", "ms"}, {"cs", "sk"})


@dataclass(frozen=True, slots=True)
class OutputChecker:
    """Checks a response against the transcript and guidelines; faults are described without quoting the response."""

    evidence: Evidence
    guidelines: Guidelines
    key_stems: frozenset[str]  # of what the video is about
    identifier: LanguageIdentifier | None

    def find_fault(self, response: BaseModel, task: WritingTask) -> str:
        """The first fault of the response, or an empty string."""
        texts = response_texts(response)
        if not texts or (isinstance(response, StepsResponse) and len(texts) > MAX_STEPS):
            return f"it must have between 1 and {MAX_STEPS} entries."
        if isinstance(response, ArticleResponse) and len(response.sections) > MAX_SECTIONS:
            return f"it must have at most {MAX_SECTIONS} sections."
        for text, is_heading in texts:
            if fault := self._format_fault(text, task, is_heading=is_heading):
                return fault
        whole = "\n".join(text for text, _ in texts)
        return self._content_fault(whole, task) or self._language_fault(whole)

    def _format_fault(self, text: str, task: WritingTask, *, is_heading: bool) -> str:
        limit = HEADING_CHARACTERS if is_heading else task.max_characters
        if not clean_sentence(text):
            return "it contains an empty text."
        if len(text) > limit:
            return f"it contains a text of more than {limit} characters. Write less."
        if (task.one_line or is_heading) and "\n" in text.strip():
            return "it must be one line."
        if task.is_short and self._is_truncated(text, limit):
            return "it ends in the middle of a sentence. Write less, and finish it."
        words = count_words(text)
        if not is_heading and not any(map(is_unspaced, text)) and not task.min_words <= words <= task.max_words:
            return f"it must have at least {task.min_words} and at most {task.max_words} words."
        return ""

    def _is_truncated(self, text: str, limit: int) -> bool:
        """Whether generation was cut off, or ends with a word that needs a continuation."""
        if text[-1:] in SENTENCE_MARKS:
            return False
        words = text.split()
        return len(text) >= limit - 1 or drop_trailing_function_words(words, language=self.evidence.language) != words

    def _content_fault(self, text: str, task: WritingTask) -> str:
        own = headings(self.evidence.language).words
        found = set(stems(text, language=self.evidence.language))
        checks = (
            (
                is_injection(text) or has_markup(text),
                "it contains markup or instructions. Write plain sentences about the video.",
            ),
            (
                bool(unsupported_claims(text, self.evidence, ignoring=own)),
                "it contains a number, a name, a code or an address that is not in the transcript, or capitals inside "
                "a sentence. Use only what was said, in sentence case.",
            ),
            (
                supported_share(text, self.evidence, ignoring=own) < task.min_support
                or self._has_unsupported_sentence(text, own),
                "too few of its words are in the transcript. Keep to what was said.",
            ),
            (bool(self.key_stems) and not self.key_stems & found, "it does not mention what the video is about."),
            (not self.guidelines.allows(text), "it contains words that the brand voice bans."),
            (
                self.guidelines.emoji is False and without_emoji(text) != text.strip(),
                "it contains emoji, which the brand voice bans.",
            ),
            (_repeats(text), "it repeats itself."),
        )
        return next((fault for is_wrong, fault in checks if is_wrong), "")

    def _has_unsupported_sentence(self, text: str, own: frozenset[str]) -> bool:
        """Checks each sentence, because one fabricated sentence barely lowers the overall share."""
        sentences = [each for line in text.splitlines() for each in split_sentences(line)]
        content = [
            each for each in sentences if len(stems(each, language=self.evidence.language)) >= MIN_SENTENCE_STEMS
        ]
        return any(supported_share(each, self.evidence, ignoring=own) < MIN_SENTENCE_SUPPORT for each in content)

    def _language_fault(self, text: str) -> str:
        if self.identifier is None or sum(map(str.isalpha, text)) < MIN_LETTERS_FOR_LANGUAGE:
            return ""
        guess = self.identifier.identify(text)
        if guess is None or guess.confidence < MIN_LANGUAGE_CONFIDENCE:
            return ""
        found, expected = primary_language(guess.language), primary_language(self.evidence.language)
        matches = found == expected or any({found, expected} <= similar for similar in _SIMILAR)
        return "" if matches else f"it must be written in the language {expected}."


def _repeats(text: str) -> bool:
    sentences: Sequence[str] = [
        each.lower().strip(" .!?") for line in text.splitlines() for each in split_sentences(line)
    ]
    return len(set(sentences)) < len(sentences)
