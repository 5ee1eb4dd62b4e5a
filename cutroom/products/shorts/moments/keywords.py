"""Which words carry a talk: frequent where they stand and rare elsewhere; and how well sentences answer a wish."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from cutroom.text.vocabulary import stems

BLOCK = 8  # sentences that count as one document
EVERYWHERE = 0.6  # a word in more than this share of many documents says nothing, whatever the language
MANY_BLOCKS = 5
ALIKE_LETTERS = 5  # words that begin with as many same letters are taken for forms of one


def rarities(found: Sequence[Sequence[str]]) -> dict[str, float]:
    """How telling each stem is: the logarithm of in how few parts of the talk it stands."""
    blocks = [set().union(*map(set, found[at : at + BLOCK])) for at in range(0, len(found), BLOCK)]
    counts = Counter(stem for block in blocks for stem in block)
    limit = EVERYWHERE * len(blocks) if len(blocks) >= MANY_BLOCKS else math.inf
    return {stem: math.log(1 + len(blocks) / count) if count <= limit else 0.0 for stem, count in counts.items()}


def weights(found: Sequence[Sequence[str]], topics: Sequence[int], *, rarity: dict[str, float]) -> list[float]:
    """How much of what carries its topic each sentence says, for its length: from 0 to 1, the best sentence 1."""
    counts: dict[int, Counter[str]] = {}
    for own, topic in zip(found, topics, strict=True):
        counts.setdefault(topic, Counter()).update(_with_pairs(own))
    densities = []
    for own, topic in zip(found, topics, strict=True):
        parts = set(_with_pairs(own))
        worth = sum(rarity.get(part, 1.0) * math.log(counts[topic][part]) for part in parts if counts[topic][part] > 1)
        densities.append(worth / math.sqrt(len(own) + 4))
    most = max(densities, default=0.0)
    return [each / most for each in densities] if most > 0 else densities


def key_stems(found: Sequence[Sequence[str]], *, rarity: dict[str, float], count: int) -> list[str]:
    """The stems that stand out in a few sentences."""
    times = Counter(stem for own in found for stem in own)
    ranked = sorted(times, key=lambda stem: (-times[stem] * rarity.get(stem, 0.0), stem))
    return [stem for stem in ranked if rarity.get(stem, 0.0) > 0][:count]


def _with_pairs(own: Sequence[str]) -> list[str]:
    """Stems and neighbouring pairs of them: "solar panel" says more than its two words."""
    return [*own, *(f"{left} {right}" for left, right in pairwise(own))]


def wished_stems(
    text: str, found: Sequence[Sequence[str]], *, language: str, rarity: dict[str, float]
) -> dict[str, float]:
    """The words of a wish that can tell sentences apart, with how telling each is."""
    unknown = max(rarity.values(), default=1.0)
    wished = dict.fromkeys(stems(text, language=language))
    return {stem: rarity.get(stem, unknown) for stem in wished if rarity.get(stem, unknown) > 0} if found else {}


def answers(own: Sequence[str], wished: dict[str, float]) -> frozenset[str]:
    """The words of the wish that a sentence has, in any of their forms."""
    stems_here = set(own)
    return frozenset(stem for stem in wished if stem in stems_here or any(_alike(stem, each) for each in stems_here))


def _alike(left: str, right: str) -> bool:
    return len(left) >= ALIKE_LETTERS and len(right) >= ALIKE_LETTERS and left[:ALIKE_LETTERS] == right[:ALIKE_LETTERS]
