"""Decides where a moment may start and end, so that it is a whole thought.

A moment starts neither on a reply nor on a sentence that needs the previous one, and ends neither on a question nor
before a sentence that continues, turns or answers its last one. Greetings, thanks and announcements are trimmed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.products.shorts.moments.talk import TalkSentence
from cutroom.text.discourse import SentenceDiscourse, names_in

MIN_OPENING_WORDS = 4  # shorter sentences are fragments
MAX_REACTION_WORDS = 4  # of a reaction that adds nothing
MAX_RETORT_WORDS = 6  # of a statement that reacts to another speaker, or that a question follows
MAX_TURN_SECONDS = 20.0  # a turn this short is not cut apart
MAX_CLOSING_SENTENCES = 3  # after a goodbye
NEW_THOUGHT_SECONDS = 2.0  # a pause after which a speaker does not reply
_QUOTES = ('"', "\u201c", "\u00ab")


@dataclass(frozen=True, slots=True)
class Coherence:
    """Per sentence: whether a moment may start or end with it, and whether its speaker's turn does."""

    can_start: Sequence[bool]
    can_end: Sequence[bool]
    starts_turn: Sequence[bool]
    ends_turn: Sequence[bool]


def analyze_coherence(
    sentences: Sequence[TalkSentence], stems: Sequence[Sequence[str]], *, is_question: Sequence[bool], language: str
) -> Coherence:
    conversation = _Conversation(sentences, stems, is_question=is_question, language=language)
    indexes = range(len(sentences))
    return Coherence(
        can_start=[conversation.can_start(index) for index in indexes],
        can_end=[conversation.can_end(index) for index in indexes],
        starts_turn=[conversation.starts_turn(index) for index in indexes],
        ends_turn=[conversation.ends_turn(index) for index in indexes],
    )


class _Conversation:
    """The sentences of a talk with their speaker turns and ties."""

    def __init__(
        self,
        sentences: Sequence[TalkSentence],
        stems: Sequence[Sequence[str]],
        *,
        is_question: Sequence[bool],
        language: str,
    ) -> None:
        self._sentences, self._stems, self._is_question = sentences, stems, is_question
        names = names_in(each.text for each in sentences)
        parsed = [SentenceDiscourse(each.text, language=language, names=names) for each in sentences]
        self._word_counts = [len(each.words) for each in parsed]
        self._turns, self._turn_seconds = _speaker_turns(sentences)
        self._is_courtesy = self._with_closing([each.is_courtesy for each in parsed])
        # Sentences without which nothing is missed.
        self._is_idle = [
            courtesy or (each.is_acknowledgment and len(each.words) <= MAX_REACTION_WORDS)
            for each, courtesy in zip(parsed, self._is_courtesy, strict=True)
        ]
        self._is_answer = [self._answers(index) for index in range(len(sentences))]
        # Sentences that make no sense without the previous one.
        self._is_bound = [
            each.depends_on_previous
            or each.is_reaction
            or self._is_answer[index]
            or len(each.words) < MIN_OPENING_WORDS
            or self._is_retort(index)
            for index, each in enumerate(parsed)
        ]

    def can_start(self, index: int) -> bool:
        if self._is_bound[index] or self._is_idle[index]:
            return False
        if self.starts_turn(index):
            return True
        if self._is_question[index] and self._word_counts[index - 1] <= MAX_RETORT_WORDS:
            return True
        return not self._is_answer[index - 1] and not self._is_in_short_turn(index)

    def can_end(self, index: int) -> bool:
        if self._is_courtesy[index]:
            return False
        following = index + 1
        if following == len(self._sentences):
            return True
        if self._is_answer[following] or (self._is_answer[index] and not self.ends_turn(index)):
            return False
        if self._quotes_on(index):
            return False
        return self._is_idle[following] or not (self._is_bound[following] or self._is_in_short_turn(following))

    def _quotes_on(self, index: int) -> bool:
        """Whether a quoted exchange continues with the next sentence of the same speaker."""
        text, following = self._sentences[index].text, self._sentences[index + 1].text
        is_quoted = any(mark in text for mark in _QUOTES) and following.startswith(_QUOTES)
        return is_quoted and not self.ends_turn(index)

    def starts_turn(self, index: int) -> bool:
        """Whether the speaker has said nothing before, other than a reaction."""
        return not index or self._turns[index] != self._turns[index - 1] or self._is_idle[index - 1]

    def ends_turn(self, index: int) -> bool:
        return index + 1 == len(self._turns) or self._turns[index + 1] != self._turns[index]

    def _is_in_short_turn(self, index: int) -> bool:
        is_short = self._turns[-1] > 0 and self._turn_seconds[self._turns[index]] <= MAX_TURN_SECONDS
        return is_short and not self.starts_turn(index)

    def _answers(self, index: int) -> bool:
        """After a question, even if its speaker has added a sentence."""
        if not index or self._is_question[index - 1]:
            return index > 0
        asked = index > 1 and self._is_question[index - 2] and not self.ends_turn(index - 2)
        return asked and self.ends_turn(index - 1)

    def _is_retort(self, index: int) -> bool:
        """Whether a speaker reacts to the previous one: briefly, or by taking up a word; even after thanks."""
        previous = index - 1
        while previous > 0 and self._is_idle[previous] and self._turns[previous] == self._turns[index]:
            previous -= 1
        if not index or self._is_question[index] or self._turns[index] == self._turns[previous]:
            return False
        if self._sentences[index].start_seconds - self._sentences[index - 1].end_seconds >= NEW_THOUGHT_SECONDS:
            return False
        shared = set(self._stems[index]) & set(self._stems[previous])
        return self._word_counts[index] <= MAX_RETORT_WORDS or bool(shared)

    def _with_closing(self, is_courtesy: Sequence[bool]) -> list[bool]:
        """Counts what the last speaker says after a goodbye as part of it."""
        result = list(is_courtesy)
        for index in range(max(1, len(result) - MAX_CLOSING_SENTENCES), len(result)):
            result[index] |= result[index - 1] and self._turns[index] == self._turns[-1]
        return result


def _speaker_turns(sentences: Sequence[TalkSentence]) -> tuple[list[int], list[float]]:
    """The turn of each sentence, and the duration of each turn."""
    turns: list[int] = []
    seconds: list[float] = []
    for index, sentence in enumerate(sentences):
        if not index or sentences[index - 1].speaker != sentence.speaker:
            seconds.append(0.0)
        seconds[-1] += max(0.0, sentence.end_seconds - sentence.start_seconds)
        turns.append(len(seconds) - 1)
    return turns, seconds
