"""Analyzes a transcript once, so that several texts can be written from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.errors import UnsuitableInputError
from cutroom.engines.writing.extractive.announced_subject import AnnouncedSubject, find_announced_subject
from cutroom.engines.writing.extractive.headings import headings
from cutroom.engines.writing.extractive.ranking import score_sentences
from cutroom.engines.writing.extractive.sentences import TranscriptSentence, extract_sentences
from cutroom.engines.writing.extractive.steps import extract_steps
from cutroom.engines.writing.extractive.terms import Term, recurring_terms
from cutroom.engines.writing.groundedness import Evidence, collect_evidence, unsupported_claims
from cutroom.engines.writing.guidelines import Guidelines, parse_guidelines
from cutroom.engines.writing.port import WritingInput
from cutroom.engines.writing.prompt_injection import strip_injections
from cutroom.text.topics import topic_starts
from cutroom.text.vocabulary import stems

if TYPE_CHECKING:
    from cutroom.engines.writing.port import TextEmbedder


@dataclass(frozen=True, slots=True)
class TranscriptAnalysis:
    """Sentences with their scores, recurring terms and topics."""

    source: WritingInput
    guidelines: Guidelines
    sentences: Sequence[TranscriptSentence]
    scores: Sequence[float]
    terms: Sequence[Term]
    subject: AnnouncedSubject | None
    topic_starts: Sequence[int]
    steps: Sequence[str]  # of a guide, else empty
    evidence: Evidence
    injections: Sequence[str]  # detected prompt injections, removed from `source`

    @property
    def language(self) -> str:
        return self.source.language

    @property
    def term_stems(self) -> frozenset[str]:
        return frozenset(stem for term in self.terms for stem in term.key)

    @property
    def key_stems(self) -> frozenset[str]:
        """Stems of the recurring terms and the subject; any text about the video contains some of them."""
        subject = stems(self.subject.text, language=self.language) if self.subject is not None else ()
        return self.term_stems.union(subject)

    def allows(self, text: str) -> bool:
        """Whether the guidelines allow the text and all its claims are supported; a cut can break a number."""
        own = headings(self.language).words
        return self.guidelines.allows(text) and not unsupported_claims(text, self.evidence, ignoring=own)


def analyze_transcript(source: WritingInput, *, embedder: "TextEmbedder | None") -> TranscriptAnalysis:
    guidelines = parse_guidelines(source.guidelines).with_names(source.names)
    source, injections = strip_injections(source)
    sentences = [each for each in extract_sentences(source) if guidelines.allows(each.text)]
    if not sentences:
        message = "Every sentence of this video contains words that its brand voice bans."
        raise UnsuitableInputError("banned_words", message)
    vectors = embedder.embed([each.text for each in sentences]) if embedder is not None else None
    terms = [each for each in recurring_terms(sentences, language=source.language) if guidelines.allows(each.text)]
    term_stems = frozenset(stem for term in terms for stem in term.key)
    pauses = [
        max(0.0, after.start_seconds - before.end_seconds)
        for before, after in zip(sentences, [*sentences[1:], *sentences[-1:]], strict=True)
    ]
    return TranscriptAnalysis(
        source,
        guidelines,
        sentences,
        score_sentences(sentences, vectors=vectors, terms=term_stems),
        terms,
        find_announced_subject(sentences, language=source.language),
        topic_starts([each.stems for each in sentences], pauses, vectors=vectors),
        extract_steps(sentences, language=source.language),
        collect_evidence(source, allowed=(*guidelines.hashtags, *guidelines.names), excluded=injections),
        injections,
    )
