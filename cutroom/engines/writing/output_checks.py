"""Judges what a language model wrote about a film, before anybody sees it."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from cutroom.engines.translation.port import LanguageIdentifier
from cutroom.engines.writing.extractive.guidelines import Guidelines, without_emoji
from cutroom.engines.writing.extractive.quotes import without_small_end
from cutroom.engines.writing.extractive.templates import templates
from cutroom.engines.writing.groundedness import Grounds, spaced_words, support, unsupported_claims
from cutroom.engines.writing.prompt_injection import is_order
from cutroom.engines.writing.prompts import HEADING_CHARACTERS, MAX_PARTS, MAX_STEPS, Parts, Steps, Task, pieces
from cutroom.text.placeholders import cleaned
from cutroom.text.sentences import split
from cutroom.text.vocabulary import stems
from cutroom.text.writing_systems import SENTENCE_MARKS, base_of, unspaced

JUDGED_LETTERS = 40  # fewer are not told apart by their language with any certainty
SURE = 0.7
TELLING_STEMS = 2  # a sentence with fewer says nothing
LEAST_IN_SENTENCE = 0.4
# Languages that are taken for each other in a line or two.
_NEAR = ({"pt", "gl", "es"}, {"no", "nb", "nn", "da"}, {"hr", "sr", "bs", "sh"}, {"id", "ms"}, {"cs", "sk"})


@dataclass(frozen=True, slots=True)
class Judge:
    """What an answer is held against; faults are told in our words, never in those of the answer."""

    grounds: Grounds
    rules: Guidelines
    telling: frozenset[str]  # stems of what the film is about
    identifier: LanguageIdentifier | None

    def fault(self, answer: BaseModel, task: Task) -> str:
        """What speaks against the answer, or nothing."""
        texts = pieces(answer)
        if not texts or (isinstance(answer, Steps) and len(texts) > MAX_STEPS):
            return f"it must have between 1 and {MAX_STEPS} entries."
        if isinstance(answer, Parts) and len(answer.parts) > MAX_PARTS:
            return f"it must have at most {MAX_PARTS} parts."
        for text, is_heading in texts:
            if fault := self._form(text, task, is_heading=is_heading):
                return fault
        whole = "\n".join(text for text, _ in texts)
        return self._matter(whole, task) or self._language(whole)

    def _form(self, text: str, task: Task, *, is_heading: bool) -> str:
        limit = HEADING_CHARACTERS if is_heading else task.most_characters
        if not cleaned(text):
            return "a text in it was empty."
        if len(text) > limit:
            return f"a text in it has more than {limit} characters. Write less."
        if (task.one_line or is_heading) and "\n" in text.strip():
            return "it must be one line."
        if task.is_short and self._is_cut(text, limit):
            return "it ends in the middle. Write less, and end it."
        words = spaced_words(text)
        if not is_heading and not any(map(unspaced, text)) and not task.least_words <= words <= task.most_words:
            return f"it must have {task.least_words} words or more, and at most {task.most_words}."
        return ""

    def _is_cut(self, text: str, limit: int) -> bool:
        """A model that was stopped, or that leaves off at a word which must go on."""
        if text[-1:] in SENTENCE_MARKS:
            return False
        words = text.split()
        return len(text) >= limit - 1 or without_small_end(words, language=self.grounds.language) != words

    def _matter(self, text: str, task: Task) -> str:
        own = templates(self.grounds.language).words
        told = set(stems(text, language=self.grounds.language))
        checks = (
            (is_order(text), "it holds marks, keys or orders. Write plain sentences about the film."),
            (
                bool(unsupported_claims(text, self.grounds, but=own)),
                "it has a number, a name or an address that is not in the transcript, or capitals inside a sentence. "
                "Use only what was said, and write capitals as in running text.",
            ),
            (
                support(text, self.grounds, but=own) < task.least_support or self._has_empty_sentence(text, own),
                "too few of its words are in the transcript. Stay with what was said.",
            ),
            (bool(self.telling) and not self.telling & told, "it says nothing of what the film is about."),
            (not self.rules.allow(text), "it has words that the brand voice leaves out."),
            (
                self.rules.emoji is False and without_emoji(text) != text.strip(),
                "it has emoji, which the brand voice leaves out.",
            ),
            (_repeats(text), "it says the same twice."),
        )
        return next((fault for is_wrong, fault in checks if is_wrong), "")

    def _has_empty_sentence(self, text: str, own: frozenset[str]) -> bool:
        """One sentence of nothing that was said is enough to state what was not."""
        sentences = [each for line in text.splitlines() for each in split(line)]
        telling = [each for each in sentences if len(stems(each, language=self.grounds.language)) >= TELLING_STEMS]
        return any(support(each, self.grounds, but=own) < LEAST_IN_SENTENCE for each in telling)

    def _language(self, text: str) -> str:
        if self.identifier is None or sum(map(str.isalpha, text)) < JUDGED_LETTERS:
            return ""
        guess = self.identifier.identify(text)
        if guess is None or guess.confidence < SURE:
            return ""
        found, wanted = base_of(guess.language), base_of(self.grounds.language)
        alike = found == wanted or any({found, wanted} <= near for near in _NEAR)
        return "" if alike else f"it must be written in the language {wanted}."


def _repeats(text: str) -> bool:
    sentences: Sequence[str] = [each.lower().strip(" .!?") for line in text.splitlines() for each in split(line)]
    return len(set(sentences)) < len(sentences)
