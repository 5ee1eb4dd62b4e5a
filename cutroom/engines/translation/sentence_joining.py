"""Joins lines of one speaker that are fragments of one sentence, and divides its translation among them again.

An engine that translates sentences cannot translate half of one: it closes the sentence, or guesses the other half.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from cutroom.engines.translation.document import DocumentLine
from cutroom.engines.translation.output_checks import letter_count
from cutroom.text.placeholders import find_protected_spans, has_words
from cutroom.text.sentences import JOIN_SECONDS
from cutroom.text.vocabulary import vocabulary
from cutroom.text.writing_systems import SENTENCE_MARKS, is_unspaced, strip_closing_marks

MAX_JOINED_CHARACTERS = 240  # what the sentence engines translate in one piece
MAX_JOINED_LINES = 4
MAX_SHIFT = 0.25  # of the joined translation: how far a cut may be from its proportional place
CLAUSE_BONUS = 0.12  # of the joined translation: how much further a cut may be to end a line at a clause
_CLAUSE_END = re.compile(r"[,;:—\u2013)]$")

CountFaults = Callable[[Sequence[str]], int]  # of a division, one text per line


def sentence_groups(lines: Sequence[DocumentLine]) -> list[range]:
    """Indices of consecutive lines that form one sentence; most groups have one line."""
    groups: list[range] = []
    for at, line in enumerate(lines):
        if groups and _continues([lines[each] for each in groups[-1]], line):
            groups[-1] = range(groups[-1].start, at + 1)
        else:
            groups.append(range(at, at + 1))
    return groups


def join_lines(texts: Sequence[str]) -> str:
    joined = ""
    for text in texts:
        unspaced = joined and is_unspaced(joined[-1]) and is_unspaced(text[:1] or " ")
        joined += text if unspaced or not joined else f" {text}"
    return joined


def divide(
    translation: str, sources: Sequence[str], *, language: str, faults: CountFaults | None = None
) -> list[str] | None:
    """One text with words per source, cut between words near its share; None if there are too few words.

    `faults` counts what is wrong with a division, such as a number in another line than in the source.
    """
    if len(sources) == 1:
        return [translation]
    shares = [max(1.0, letter_count(each)) for each in sources]
    rest, result = translation, list[str]()
    for at, source in enumerate(sources[:-1]):
        share = shares[at] / sum(shares[at:])
        cuts = _cuts(rest, share, ends_clause=bool(_CLAUSE_END.search(source)), language=language)
        cuts = [cut for cut in cuts if has_words(rest[:cut]) and _word_count(rest[cut:]) >= len(sources) - at - 1]
        if not cuts:
            return None
        best = cuts[0] if faults is None else min(cuts, key=lambda cut: faults([*result, rest[:cut], rest[cut:]]))
        result.append(rest[:best].strip())
        rest = rest[best:].strip()
    return [*result, rest] if has_words(rest) else None


def _continues(group: Sequence[DocumentLine], line: DocumentLine) -> bool:
    last = group[-1]
    texts = [each.text.strip() for each in (*group, line)]
    if not all(map(has_words, texts)) or last.speaker != line.speaker or len(group) >= MAX_JOINED_LINES:
        return False
    has_times = last.end_seconds is not None and line.start_seconds is not None
    if has_times and (line.start_seconds or 0.0) - (last.end_seconds or 0.0) > JOIN_SECONDS:
        return False
    if sum(map(len, texts)) + len(texts) - 1 > MAX_JOINED_CHARACTERS:
        return False
    ended = strip_closing_marks(texts[-2])[-1:] in SENTENCE_MARKS
    return not ended and (texts[-1][0].islower() or texts[-2][-1:] in ",;")


def _cuts(text: str, share: float, *, ends_clause: bool, language: str) -> list[int]:
    """Places between words near the share of the text, best first."""
    aim, reach = share * len(text), MAX_SHIFT * len(text)
    spans = [(span.start, span.end) for span in find_protected_spans(text)]
    places = [at for at in _places(text) if not any(start < at < end for start, end in spans)]
    near = [at for at in places if abs(at - aim) <= reach] or places
    return sorted(near, key=lambda at: (_cost(text, at, aim, ends_clause=ends_clause, language=language), at))


def _places(text: str) -> Iterator[int]:
    yield from (match.end() for match in re.finditer(r"\s+", text.rstrip()) if match.start() > 0)
    if " " not in text:
        yield from (
            at for at, (left, right) in enumerate(pairwise(text), 1) if is_unspaced(left) and is_unspaced(right)
        )


def _cost(text: str, at: int, aim: float, *, ends_clause: bool, language: str) -> float:
    """The distance in shares of the text; a line ends at a clause if its source does, and not after a stop word."""
    before = text[:at].rstrip()
    last = before.rsplit(None, 1)[-1].casefold() if before else ""
    cost = abs(at - aim) / max(1, len(text))
    if _CLAUSE_END.search(before):
        return cost - CLAUSE_BONUS * (2 if ends_clause else 1)
    return cost + (CLAUSE_BONUS if vocabulary(language).is_stop_word(last or "-") else 0.0)


def _word_count(text: str) -> int:
    return len(text.split()) if " " in text else sum(map(is_unspaced, text)) or len(text.split())
