"""Splits long text at natural pauses for translation and speech, and preserves placeholders in translation."""

import re
from collections.abc import Callable, Iterator, Sequence

from cutroom.text.placeholders import ProtectedSpan, find_protected_spans, has_words, text_between

# Cut points by preference: end of a sentence, clause, phrase, word.
_CUT_POINTS = (
    re.compile("[.!?…][\"'”\u2019)]*\\s|[\u3002\uff01\uff1f]"),
    re.compile("[;:—\u2013]\\s|[\uff1b\uff1a]"),
    re.compile(",\\s|[\uff0c\u3001]"),
    re.compile(r"\s"),
)
# Languages written without spaces.
_UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "lo", "km", "my"})
CHARACTERS_PER_IDEOGRAPH = 3  # letters of an alphabet
_MASK = re.compile(r"X\d+X")


def split_at_pauses(text: str, *, limit_characters: int) -> list[str]:
    """Passages within the limit that together contain every word of the text."""
    passages, rest = [], text
    while len(rest) > limit_characters:
        at = _cut_point(rest, limit_characters)
        passages.append(rest[:at].strip())
        rest = rest[at:].strip()
    return [passage for passage in (*passages, rest) if passage]


def _cut_point(text: str, limit: int) -> int:
    """The best cut closest to the middle, or to the limit if the middle is beyond it."""
    aim = min(len(text) // 2, limit)
    forbidden = [
        (span.start, span.end) for span in find_protected_spans(text[: 2 * limit]) if span.end - span.start < limit
    ]
    for pattern in _CUT_POINTS:
        found = [match.end() for match in pattern.finditer(text, 0, min(len(text), limit)) if match.end() < len(text)]
        allowed = [at for at in found if not any(start < at < end for start, end in forbidden)]
        # Very short passages translate badly.
        allowed = [at for at in allowed if at > limit // 4]
        if allowed:
            return min(allowed, key=lambda at: abs(at - aim))
    return aim


def scaled_limit(language: str, characters: int) -> int:
    """Scales a limit in alphabetic characters to the language's script."""
    return (
        characters // CHARACTERS_PER_IDEOGRAPH
        if language.split("-", maxsplit=1)[0] in _UNSPACED_LANGUAGES
        else characters
    )


def join_passages(passages: Sequence[str], *, language: str) -> str:
    separator = "" if language.split("-", maxsplit=1)[0] in _UNSPACED_LANGUAGES else " "
    return separator.join(passage for passage in passages if passage)


def batches(texts: Sequence[str], *, sentences: int, characters: int) -> Iterator[list[int]]:
    """Indices of sentences with words, in batches bounded by count and characters."""
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


def match_case(source: str, translation: str) -> str:
    """Restores a lower-case start, because engines capitalize every input like a sentence."""
    if source[:1].islower() and translation[:1].isupper() and not translation[1:2].isupper():
        return translation[0].lower() + translation[1:]
    return translation


def translate_preserving(text: str, translate: Callable[[str], str]) -> str:
    """Translates text with placeholders masked, or segment by segment if a mask gets lost."""
    spans = find_protected_spans(text)
    if not spans:
        return translate(text) if has_words(text) else text
    start, spans, end = _trim_edges(text, spans)
    middle = text[start:end]
    inside = [ProtectedSpan(span.kind, span.text, span.start - start, span.end - start) for span in spans]
    if not has_words(middle):
        return text
    return text[:start] + _translate_middle(middle, inside, translate) + text[end:]


def _trim_edges(text: str, spans: Sequence[ProtectedSpan]) -> tuple[int, list[ProtectedSpan], int]:
    """Excludes leading and trailing placeholders from the text to translate."""
    start, end, rest = 0, len(text), list(spans)
    while rest and not any(character.isalnum() for character in text[start : rest[0].start]):
        start = rest.pop(0).end
    while rest and not any(character.isalnum() for character in text[rest[-1].end : end]):
        end = rest.pop().start
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, rest, end


def _translate_middle(text: str, spans: Sequence[ProtectedSpan], translate: Callable[[str], str]) -> str:
    if not spans:
        return translate(text)
    around = text_between(text, spans)
    masks = [f"X{number}X" for number in range(1, len(spans) + 1)]
    if not _MASK.search(text):
        masked = around[0] + "".join(mask + rest for mask, rest in zip(masks, around[1:], strict=True))
        translation = translate(masked)
        if sorted(_MASK.findall(translation)) == sorted(masks):
            originals = dict(zip(masks, (span.text for span in spans), strict=True))
            return _MASK.sub(lambda match: originals[match.group()], translation)
    segments = [_translate_segment(segment, translate) for segment in around]
    return segments[0] + "".join(span.text + rest for span, rest in zip(spans, segments[1:], strict=True))


def _translate_segment(segment: str, translate: Callable[[str], str]) -> str:
    """Keeps surrounding whitespace; a segment without words is unchanged."""
    core = segment.strip()
    if not has_words(core):
        return segment
    at = segment.index(core)
    return segment[:at] + match_case(core, translate(core).strip()) + segment[at + len(core) :]
