"""All that is worked out of a film once, so that each text can be made of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError
from cutroom.engines.writing.extractive.guidelines import Guidelines, guidelines_of
from cutroom.engines.writing.extractive.keyphrases import Phrase, keyphrases
from cutroom.engines.writing.extractive.ranking import ranks
from cutroom.engines.writing.extractive.sentences import Sentence, sentences_of
from cutroom.engines.writing.extractive.subject import Subject, subject_of
from cutroom.engines.writing.extractive.templates import templates
from cutroom.engines.writing.groundedness import Grounds, grounds_of, unsupported_claims
from cutroom.engines.writing.port import WritingInput
from cutroom.engines.writing.prompt_injection import without_orders
from cutroom.text.topics import topic_starts

if TYPE_CHECKING:
    from cutroom.engines.writing.text_ports import TextEmbedder

WORTHY_PHRASES = 12


@dataclass(frozen=True, slots=True)
class TranscriptAnalysis:
    """Sentences, what they are worth, and what they are about."""

    material: WritingInput
    rules: Guidelines
    sentences: Sequence[Sentence]
    scores: Sequence[float]
    phrases: Sequence[Phrase]
    subject: Subject | None
    topic_starts: Sequence[int]
    grounds: Grounds
    orders: Sequence[str]  # what was said to machines, and is no part of the material

    @property
    def language(self) -> str:
        return self.material.language

    def allows(self, text: str) -> bool:
        """Whether the brand voice allows it, and nothing in it is made up, as by a number that was cut in two."""
        own = templates(self.language).words
        return self.rules.allow(text) and not unsupported_claims(text, self.grounds, but=own)


def study(material: WritingInput, *, embedder: "TextEmbedder | None") -> TranscriptAnalysis:
    rules = guidelines_of(material.guidelines)
    material, orders = without_orders(material)
    sentences = [each for each in sentences_of(material) if rules.allow(each.text)]
    if not sentences:
        raise EngineError("All that is said in this film has words that its brand voice leaves out.")
    subject = subject_of(sentences, language=material.language)
    announced = subject.sentence if subject else None
    vectors = embedder.embed([each.text for each in sentences]) if embedder is not None and sentences else None
    phrases = [
        each
        for each in keyphrases(sentences, language=material.language, announced=announced)
        if rules.allow(each.text)
    ]
    worth = {stem: phrase.score for phrase in phrases[:WORTHY_PHRASES] for stem in phrase.key}
    most = max(worth.values(), default=1.0)
    scores = ranks(sentences, vectors=vectors, worth={stem: score / most for stem, score in worth.items()})
    pauses = [
        max(0.0, after.start_seconds - before.end_seconds)
        for before, after in zip(sentences, [*sentences[1:], *sentences[-1:]], strict=True)
    ]
    grounds = grounds_of(material, allowed=(*rules.hashtags, *rules.names), refused=orders)
    starts = topic_starts([each.stems for each in sentences], pauses, vectors=vectors)
    return TranscriptAnalysis(material, rules, sentences, scores, phrases, subject, starts, grounds, orders)
