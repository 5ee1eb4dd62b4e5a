"""Analyzes a transcript once, so that several texts can be written from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.errors import UnsuitableInputError
from cutroom.engines.writing.extractive.announced_topic import AnnouncedTopic, find_announced_topic
from cutroom.engines.writing.extractive.guidelines import Guidelines, parse_guidelines
from cutroom.engines.writing.extractive.keyphrases import Keyphrase, extract_keyphrases
from cutroom.engines.writing.extractive.ranking import score_sentences
from cutroom.engines.writing.extractive.sentences import TranscriptSentence, extract_sentences
from cutroom.engines.writing.extractive.templates import templates
from cutroom.engines.writing.groundedness import Evidence, collect_evidence, unsupported_claims
from cutroom.engines.writing.port import WritingInput
from cutroom.engines.writing.prompt_injection import strip_injections
from cutroom.text.topics import topic_starts

if TYPE_CHECKING:
    from cutroom.engines.writing.port import TextEmbedder

SCORED_PHRASES = 12  # key phrases that raise the score of a sentence


@dataclass(frozen=True, slots=True)
class TranscriptAnalysis:
    """Sentences with their scores, key phrases and topics."""

    source: WritingInput
    guidelines: Guidelines
    sentences: Sequence[TranscriptSentence]
    scores: Sequence[float]
    phrases: Sequence[Keyphrase]
    announced_topic: AnnouncedTopic | None
    topic_starts: Sequence[int]
    evidence: Evidence
    injections: Sequence[str]  # detected prompt injections, removed from `source`

    @property
    def language(self) -> str:
        return self.source.language

    def allows(self, text: str) -> bool:
        """Whether the guidelines allow the text and all its claims are supported; truncation can break a number."""
        own = templates(self.language).words
        return self.guidelines.allows(text) and not unsupported_claims(text, self.evidence, ignoring=own)


def analyze_transcript(source: WritingInput, *, embedder: "TextEmbedder | None") -> TranscriptAnalysis:
    guidelines = parse_guidelines(source.guidelines)
    source, injections = strip_injections(source)
    sentences = [each for each in extract_sentences(source) if guidelines.allows(each.text)]
    if not sentences:
        message = "Every sentence of this video contains words that its brand voice bans."
        raise UnsuitableInputError("banned_words", message)
    topic = find_announced_topic(sentences, language=source.language)
    announced = topic.sentence if topic else None
    vectors = embedder.embed([each.text for each in sentences]) if embedder is not None and sentences else None
    phrases = [
        each
        for each in extract_keyphrases(sentences, language=source.language, announced=announced)
        if guidelines.allows(each.text)
    ]
    weights = {stem: phrase.score for phrase in phrases[:SCORED_PHRASES] for stem in phrase.key}
    most = max(weights.values(), default=1.0)
    weights = {stem: score / most for stem, score in weights.items()}
    scores = score_sentences(sentences, vectors=vectors, weights=weights)
    pauses = [
        max(0.0, after.start_seconds - before.end_seconds)
        for before, after in zip(sentences, [*sentences[1:], *sentences[-1:]], strict=True)
    ]
    evidence = collect_evidence(source, allowed=(*guidelines.hashtags, *guidelines.names), excluded=injections)
    starts = topic_starts([each.stems for each in sentences], pauses, vectors=vectors)
    return TranscriptAnalysis(source, guidelines, sentences, scores, phrases, topic, starts, evidence, injections)
