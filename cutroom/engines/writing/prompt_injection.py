"""Finds what somebody says to the machine that reads a transcript; it is no part of what a film is about.

People do not speak in braces, tags or keys, and have no need to tell a writer what to write. A sentence that is found
here is neither quoted nor sent to a language model. What is dropped by mistake is one sentence of many.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from cutroom.engines.writing.port import SpokenSegment, WritingInput
from cutroom.text.sentences import spoken_sentences
from cutroom.text.vocabulary import stems

MAX_SAID = 20_000
NEAR = 2  # sentences at either side of an order in which a key may stand
KEY_CHARACTERS = 10
SHARED = 0.25  # of a sentence's telling words that come up elsewhere in its film
DOUBTFUL_SHARED = 0.6
FEW_SENTENCES = 6  # of a film, in which none need share a word with another
_MARKUP = re.compile(
    r"[{}<>`|\\\]\[]|#{2,}|\*{2,}|-{3,}|={3,}|^\s*(?:system|assistant|user|human|developer)\s*:", re.IGNORECASE
)
_BLOB = re.compile(
    r"(?<!\S)(?=\S*[a-z])(?=\S*[A-Z])(?=\S*[0-9+/=])[A-Za-z0-9+/_-]{16,}={0,2}"
    r"|(?:%[0-9A-Fa-f]{2}){3,}|(?:\\[ux][0-9A-Fa-f]{2,4})+"
)
_SPACED = re.compile(r"\b(?:[^\W\d_][ .\-*_]){3,}[^\W\d_]\b")
_LOOKALIKES = str.maketrans("аеорсухіјѕԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΧοα", "aeopcyxijsdhqwABEZHIKMNOPTXoa")  # noqa: RUF001 (that is the point)
_LEET = str.maketrans("013457@$", "oieast" + "as")


def without_orders(material: WritingInput) -> tuple[WritingInput, list[str]]:
    """The material in whole sentences without those that are addressed to a machine, and those."""
    said = spoken_sentences(material.said[:MAX_SAID])
    suspect = {at for at, each in enumerate(said) if is_order(each.text)}
    for at in range(len(said) - 1):
        # An order that is spread over two sentences.
        if at not in suspect and at + 1 not in suspect and _spans(said[at], said[at + 1]):
            suspect |= {at, at + 1}
    suspect |= _strangers(said, SHARED, language=material.language)
    near = {at + step for at in suspect for step in range(-NEAR, NEAR + 1)}
    suspect |= {at for at in near if 0 <= at < len(said) and has_key(said[at].text, least=KEY_CHARACTERS // 2)}
    left = tuple(each for at, each in enumerate(said) if at not in suspect)
    return replace(material, said=left), [said[at].text for at in sorted(suspect)]


def doubtful(material: WritingInput, *, strictly: bool) -> list[str]:
    """Sentences that may be quoted, but of which a model must not take words that nobody says elsewhere.

    They speak of writing and share little with the rest of their film; strictly, whatever they speak of.
    """
    said, language = material.said[:MAX_SAID], material.language
    found = _strangers(said, DOUBTFUL_SHARED, language=language)
    found |= set(_apart(said, SHARED, language=language)) if strictly else set()
    return [said[at].text for at in sorted(found)]


def _strangers(said: Sequence[SpokenSegment], shared: float, *, language: str) -> set[int]:
    """Sentences that speak of writing or of machines, and share hardly a telling word with the rest of their film.

    This needs no list of ways to give orders: who wants something else written speaks of something else.
    """
    writing = _table().writing
    return {at for at in _apart(said, shared, language=language) if writing.search(said[at].text)}


def _apart(said: Sequence[SpokenSegment], shared: float, *, language: str) -> list[int]:
    """Sentences of whose telling words less than such a share comes up elsewhere; words about writing are not told."""
    if len(said) < FEW_SENTENCES:
        return []
    writing = _table().writing
    own = [frozenset(stems(writing.sub(" ", each.text.lower()), language=language)) for each in said]
    counts = Counter(stem for here in own for stem in here)
    return [at for at, here in enumerate(own) if here and sum(counts[stem] > 1 for stem in here) < shared * len(here)]


def is_order(text: str) -> bool:
    """Whether a machine is told what to do, in tags, in keys or in plain words."""
    folded = unicodedata.normalize("NFKC", text)
    if _MARKUP.search(folded) or _BLOB.search(folded) or has_key(folded):
        return True
    return any(_table().orders.search(each) for each in _readings(folded))


def has_key(text: str, *, least: int = KEY_CHARACTERS) -> bool:
    """Whether a word is no word but a key: long, and of large letters with digits or dashes."""
    return any(_is_key(word.strip(".,;:!?\"'()“”«»"), least) for word in text.split())


def _is_key(word: str, least: int) -> bool:
    if len(word) < least or not any(map(str.isalpha, word)):
        return False
    mixed = any(map(str.isdigit, word)) or "_" in word or ("-" in word and word.isupper())
    plain = re.fullmatch(r"\d+[.,:]?\d*[^\W\d_]{1,12}|[^\W\d_]+(?:-[^\W\d_]+)*-?\d{1,4}", word)
    return mixed and (plain is None or (word.isupper() and len(word) >= KEY_CHARACTERS)) and not word.islower()


def _readings(text: str) -> list[str]:
    """The text as it stands, and as it reads once letters that only look like others are told."""
    visible = "".join(each for each in text if unicodedata.category(each) != "Cf")
    joined = _SPACED.sub(lambda match: re.sub(r"[ .\-*_]", "", match.group()), visible)
    latin = joined.translate(_LOOKALIKES) if re.search("[A-Za-z]", joined) else joined
    leet = " ".join(
        word.translate(_LEET) if re.search(r"[A-Za-z]", word) and re.search(r"[0-9@$]", word) else word
        for word in latin.split()
    )
    return list(dict.fromkeys([visible, joined, latin, leet]))


def _spans(left: SpokenSegment, right: SpokenSegment) -> bool:
    text = f"{left.text} {right.text}"
    end = len(left.text)
    return any(match.start() < end < match.end() for match in _table().orders.finditer(text))


@dataclass(frozen=True, slots=True)
class _Table:
    orders: re.Pattern[str]
    writing: re.Pattern[str]


@cache
def _table() -> _Table:
    table = tomllib.loads(Path(__file__).with_name("prompt_injection.toml").read_text(encoding="utf-8"))
    orders = "|".join(f"(?:{order})" for order in (*table["forget"], *table["be"], *table["write"]))
    return _Table(re.compile(orders, re.IGNORECASE | re.DOTALL), re.compile(table["writing"], re.IGNORECASE))
