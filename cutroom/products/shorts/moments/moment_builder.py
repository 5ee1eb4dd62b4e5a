"""Builds a moment from a candidate: title, description and the reason for its selection."""

from collections.abc import Sequence

from cutroom.products.shorts.moments.analysis import TalkAnalysis
from cutroom.products.shorts.moments.candidates import FEATURE_WEIGHTS, CandidateSpec, MomentCandidate, features
from cutroom.products.shorts.moments.keywords import top_stems
from cutroom.products.shorts.moments.talk import Moment
from cutroom.products.shorts.moments.titles import format_clock, make_description, make_reason, make_title
from cutroom.products.transcripts.text_units import join_words
from cutroom.text.vocabulary import stems, words_of

MAX_KEYWORDS = 2
SUBJECT_WEIGHT = 2.5  # of what a sentence says about the moment, relative to its other scores
PROMPT_REASON_WEIGHT = 3.0  # relative to the other features
HIGH_ENERGY = 0.6
# Rare features are more informative than common ones.
_REASON_WEIGHTS = {"centrality": 1.0, "energy": 2.0, "laughs": 4.0, "cuts": 1.0}
_REASON_TEXTS = {
    "centrality": "keeps to one topic",
    "energy": "is delivered with energy",
    "laughs": "has laughter",
    "cuts": "has many cuts",
}


def build_moment(analysis: TalkAnalysis, candidate: MomentCandidate, spec: CandidateSpec) -> Moment:
    texts = _texts(analysis, candidate)
    subject = _subject_scores(analysis, candidate)
    scores = [
        _sentence_score(analysis, candidate.first + index) + SUBJECT_WEIGHT * score
        for index, score in enumerate(subject)
    ]
    title = make_title(
        texts, scores, language=analysis.talk.language, fallback=f"Moment at {format_clock(candidate.start_seconds)}"
    )
    return Moment(
        candidate.start_seconds,
        candidate.end_seconds,
        round(candidate.score, 4),
        title,
        make_description(texts, language=analysis.talk.language),
        _reason(analysis, candidate, spec, texts),
        (candidate.first, candidate.last + 1),
    )


def _texts(analysis: TalkAnalysis, candidate: MomentCandidate) -> list[str]:
    """The sentences of a candidate; a sentence that it cuts off is reduced to the audible words."""
    texts = [sentence.text for sentence in analysis.sentences[candidate.first : candidate.last + 1]]
    if candidate.is_cut:
        first_utterance = max(analysis.sentence_spans.first[candidate.last], candidate.utterances[0])
        audible = [each.text for each in analysis.utterances[first_utterance : candidate.utterances[1] + 1]]
        texts[-1] = join_words(audible, language=analysis.talk.language)
    return texts


def _sentence_score(analysis: TalkAnalysis, sentence: int) -> float:
    score = analysis.content[sentence] + 0.5 * analysis.centrality[sentence] + 0.3 * analysis.opening[sentence]
    return score + (2 * analysis.relevance[sentence] if analysis.relevance is not None else 0.0)


def _subject_scores(analysis: TalkAnalysis, candidate: MomentCandidate) -> list[float]:
    """How much of what the moment is about each of its sentences says; 0 without vectors."""
    first, stop = candidate.first, candidate.last + 1
    if analysis.vectors is None:
        return [0.0] * (stop - first)
    vectors = analysis.vectors[first:stop]
    weights = [len(each) for each in analysis.stems[first:stop]]  # short sentences say little
    middle = vectors.T @ weights
    length = float(middle @ middle) ** 0.5
    return [float(each) / length for each in vectors @ middle] if length else [0.0] * (stop - first)


def _reason(analysis: TalkAnalysis, candidate: MomentCandidate, spec: CandidateSpec, texts: Sequence[str]) -> str:
    values = features(analysis, candidate, spec)
    reasons = [
        (_REASON_WEIGHTS[name] * FEATURE_WEIGHTS[name] * values[name], text) for name, text in _REASON_TEXTS.items()
    ]
    if values["energy"] < HIGH_ENERGY:
        reasons = [each for each in reasons if each[1] != _REASON_TEXTS["energy"]]
    if analysis.is_question[candidate.first]:
        reasons.append((FEATURE_WEIGHTS["opening"], "opens with a question"))
    elif analysis.opening[candidate.first] >= 0.5:
        reasons.append((FEATURE_WEIGHTS["opening"] / 2, "opens with a clear statement"))
    if analysis.relevance is not None:
        reasons.append((PROMPT_REASON_WEIGHT * values["prompt"], "matches the prompt"))
    if words := _keywords(analysis, candidate, texts):
        reasons.append((FEATURE_WEIGHTS["content"] * max(0.3, values["content"]), f"covers {words}"))
    return make_reason(reasons, default="stands on its own")


def _keywords(analysis: TalkAnalysis, candidate: MomentCandidate, texts: Sequence[str]) -> str:
    """The top keywords, in a form in which they were spoken."""
    stems_found = top_stems(analysis.stems[candidate.first : candidate.last + 1], idf=analysis.idf, count=MAX_KEYWORDS)
    language = analysis.talk.language
    forms: dict[str, str] = {}
    for word in words_of(" ".join(texts)):
        for stem in stems(word, language=language):
            forms.setdefault(stem, word)
    return " and ".join(f"“{forms[stem]}”" for stem in stems_found if stem in forms)
