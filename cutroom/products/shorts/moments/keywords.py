"""TF-IDF keyword scores of sentences, and matching of sentences against a prompt."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from cutroom.text.vocabulary import stems

SENTENCES_PER_DOCUMENT = 8
MAX_DOCUMENT_SHARE = 0.6  # stems in more documents than this are treated as stop words
MIN_DOCUMENTS = 5
MIN_COMMON_PREFIX = 5  # words sharing this prefix are treated as forms of one word


def stem_idf(sentence_stems: Sequence[Sequence[str]]) -> dict[str, float]:
    """Inverse document frequency of each stem, over blocks of sentences."""
    documents = [
        set().union(*map(set, sentence_stems[index : index + SENTENCES_PER_DOCUMENT]))
        for index in range(0, len(sentence_stems), SENTENCES_PER_DOCUMENT)
    ]
    counts = Counter(stem for document in documents for stem in document)
    limit = MAX_DOCUMENT_SHARE * len(documents) if len(documents) >= MIN_DOCUMENTS else math.inf
    return {stem: math.log(1 + len(documents) / count) if count <= limit else 0.0 for stem, count in counts.items()}


def keyword_density(
    sentence_stems: Sequence[Sequence[str]], topics: Sequence[int], *, idf: dict[str, float]
) -> list[float]:
    """Keyword density of each sentence within its topic, scaled so that the best sentence is 1."""
    counts: dict[int, Counter[str]] = {}
    for stems_here, topic in zip(sentence_stems, topics, strict=True):
        counts.setdefault(topic, Counter()).update(_with_pairs(stems_here))
    densities = []
    for stems_here, topic in zip(sentence_stems, topics, strict=True):
        terms = set(_with_pairs(stems_here))
        score = sum(idf.get(term, 1.0) * math.log(counts[topic][term]) for term in terms if counts[topic][term] > 1)
        densities.append(score / math.sqrt(len(stems_here) + 4))
    highest = max(densities, default=0.0)
    return [each / highest for each in densities] if highest > 0 else densities


def top_stems(sentence_stems: Sequence[Sequence[str]], *, idf: dict[str, float], count: int) -> list[str]:
    """The stems with the highest TF-IDF in these sentences."""
    counts_by_stem = Counter(stem for stems_here in sentence_stems for stem in stems_here)
    ranked = sorted(counts_by_stem, key=lambda stem: (-counts_by_stem[stem] * idf.get(stem, 0.0), stem))
    return [stem for stem in ranked if idf.get(stem, 0.0) > 0][:count]


def _with_pairs(stems_here: Sequence[str]) -> list[str]:
    """Stems and bigrams: "solar panel" says more than its two words."""
    return [*stems_here, *(f"{left} {right}" for left, right in pairwise(stems_here))]


def prompt_stems(
    text: str, sentence_stems: Sequence[Sequence[str]], *, language: str, idf: dict[str, float]
) -> dict[str, float]:
    """Stems of the prompt that discriminate between sentences, with their IDF."""
    default_idf = max(idf.values(), default=1.0)
    found = dict.fromkeys(stems(text, language=language))
    return (
        {stem: idf.get(stem, default_idf) for stem in found if idf.get(stem, default_idf) > 0} if sentence_stems else {}
    )


def matching_stems(sentence_stems: Sequence[str], prompt_weights: dict[str, float]) -> frozenset[str]:
    """Prompt stems that occur in a sentence, in any form."""
    stems_here = set(sentence_stems)
    return frozenset(
        stem for stem in prompt_weights if stem in stems_here or any(_share_prefix(stem, each) for each in stems_here)
    )


def _share_prefix(left: str, right: str) -> bool:
    return (
        len(left) >= MIN_COMMON_PREFIX
        and len(right) >= MIN_COMMON_PREFIX
        and left[:MIN_COMMON_PREFIX] == right[:MIN_COMMON_PREFIX]
    )
