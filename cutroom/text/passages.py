"""Cuts what is too long for an engine where a speaker would pause, and joins the translations again."""

import re
from collections.abc import Callable, Iterator, Sequence

from cutroom.text.placeholders import Protected, between, find_protected, has_words

# The best place to cut first: the end of a sentence, of a clause, of a phrase, of a word.
_PLACES = (
    re.compile("[.!?…][\"'”\u2019)]*\\s|[\u3002\uff01\uff1f]"),
    re.compile("[;:—\u2013]\\s|[\uff1b\uff1a]"),
    re.compile(",\\s|[\uff0c\u3001]"),
    re.compile(r"\s"),
)
# Written without blanks between words.
_WITHOUT_BLANKS = frozenset({"zh", "ja", "th", "lo", "km", "my"})
SIGNS_SAY_TIMES = 3  # as much as a letter does
_MASK = re.compile(r"X\d+X")


def cut(text: str, *, limit_characters: int) -> list[str]:
    """Passages within the limit that together have every word of the text."""
    passages, rest = [], text
    while len(rest) > limit_characters:
        at = _place_to_cut(rest, limit_characters)
        passages.append(rest[:at].strip())
        rest = rest[at:].strip()
    return [passage for passage in (*passages, rest) if passage]


def _place_to_cut(text: str, limit: int) -> int:
    """Nearest the middle, or nearest the limit where the middle is too far for one passage."""
    aim = min(len(text) // 2, limit)
    forbidden = [(part.start, part.end) for part in find_protected(text[: 2 * limit]) if part.end - part.start < limit]
    for place in _PLACES:
        found = [match.end() for match in place.finditer(text, 0, min(len(text), limit)) if match.end() < len(text)]
        allowed = [at for at in found if not any(start < at < end for start, end in forbidden)]
        # A few words alone translate badly.
        allowed = [at for at in allowed if at > limit // 4]
        if allowed:
            return min(allowed, key=lambda at: abs(at - aim))
    return aim


def limit_in(language: str, characters: int) -> int:
    """A limit in characters of an alphabet, in those of the language."""
    return characters // SIGNS_SAY_TIMES if language.split("-", maxsplit=1)[0] in _WITHOUT_BLANKS else characters


def join(passages: Sequence[str], *, language: str) -> str:
    blank = "" if language.split("-", maxsplit=1)[0] in _WITHOUT_BLANKS else " "
    return blank.join(passage for passage in passages if passage)


def batches(texts: Sequence[str], *, sentences: int, characters: int) -> Iterator[list[int]]:
    """The places of sentences that have words, a bounded number at a time."""
    batch: list[int] = []
    size = 0
    for at, sentence in enumerate(texts):
        if not has_words(sentence):
            continue
        if batch and (len(batch) == sentences or size + len(sentence) > characters):
            yield batch
            batch, size = [], 0
        batch.append(at)
        size += len(sentence)
    if batch:
        yield batch


def with_case_of(source: str, answer: str) -> str:
    """An engine begins everything like a sentence; what did not begin so is put back."""
    if source[:1].islower() and answer[:1].isupper() and not answer[1:2].isupper():
        return answer[0].lower() + answer[1:]
    return answer


def translate_around(text: str, translate: Callable[[str], str]) -> str:
    """Translate the words and carry over the rest: with names in their place, or part by part where those get lost."""
    parts = find_protected(text)
    if not parts:
        return translate(text) if has_words(text) else text
    start, parts, end = _without_edges(text, parts)
    middle = text[start:end]
    inside = [Protected(part.kind, part.text, part.start - start, part.end - start) for part in parts]
    if not has_words(middle):
        return text
    return text[:start] + _translate_middle(middle, inside, translate) + text[end:]


def _without_edges(text: str, parts: Sequence[Protected]) -> tuple[int, list[Protected], int]:
    """Where the words begin and end; what is carried over before and after is no part of the sentence."""
    start, end, rest = 0, len(text), list(parts)
    while rest and not any(character.isalnum() for character in text[start : rest[0].start]):
        start = rest.pop(0).end
    while rest and not any(character.isalnum() for character in text[rest[-1].end : end]):
        end = rest.pop().start
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, rest, end


def _translate_middle(text: str, parts: Sequence[Protected], translate: Callable[[str], str]) -> str:
    if not parts:
        return translate(text)
    around = between(text, parts)
    masks = [f"X{number}X" for number in range(1, len(parts) + 1)]
    if not _MASK.search(text):
        masked = around[0] + "".join(mask + rest for mask, rest in zip(masks, around[1:], strict=True))
        answer = translate(masked)
        if sorted(_MASK.findall(answer)) == sorted(masks):
            originals = dict(zip(masks, (part.text for part in parts), strict=True))
            return _MASK.sub(lambda match: originals[match.group()], answer)
    done = [_translate_stretch(stretch, translate) for stretch in around]
    return done[0] + "".join(part.text + rest for part, rest in zip(parts, done[1:], strict=True))


def _translate_stretch(stretch: str, translate: Callable[[str], str]) -> str:
    """Blanks at the edges stay; a stretch without words stays as it is."""
    core = stretch.strip()
    if not has_words(core):
        return stretch
    at = stretch.index(core)
    return stretch[:at] + with_case_of(core, translate(core).strip()) + stretch[at + len(core) :]
