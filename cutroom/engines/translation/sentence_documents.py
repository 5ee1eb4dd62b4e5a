"""Translates the lines of a document with engines for sentences: joined, repaired, with names and terms kept."""

from collections.abc import Sequence

from cutroom.engines.translation.document import CheckLine, TranslationDocument
from cutroom.engines.translation.glossary_wordings import Repair, enforce_terms
from cutroom.engines.translation.line_repairs import (
    document_names,
    lost_names,
    repair_line,
    with_kept_names,
    without_placeholders,
)
from cutroom.engines.translation.routing import TranslationPlan, translate_along
from cutroom.engines.translation.sentence_joining import divide, join_lines, sentence_groups
from cutroom.engines.types import OnProgress


def translate_sentences(
    plan: TranslationPlan, document: TranslationDocument, *, check: CheckLine, on_progress: OnProgress | None = None
) -> list[str]:
    """One text per line, never empty for a line with words."""
    texts = [line.text for line in document.lines]
    genders = {speaker.id: speaker.gender for speaker in document.speakers}

    def repair(at: int, text: str) -> str:
        line = document.lines[at]
        gender = genders.get(line.speaker or "")
        return repair_line(line, text, source=document.source, target=document.target, gender=gender)

    groups = sentence_groups(document.lines)
    joined = [
        join_lines([texts[at].strip() for at in group]) if len(group) > 1 else texts[group[0]] for group in groups
    ]
    whole = translate_along(plan, joined, on_progress=on_progress)
    result = list(texts)
    undivided: list[int] = []
    for group, translation in zip(groups, whole, strict=True):
        parts = _divided(document, group, translation, check=check)
        if parts is None:
            undivided += group
            continue
        for at, part in zip(group, parts, strict=True):
            result[at] = part
    for at, text in zip(undivided, translate_along(plan, [texts[at] for at in undivided]), strict=True):
        result[at] = text
    names = document_names(texts)
    named = _with_names(plan, texts, [repair(at, text) for at, text in enumerate(result)], names, repair)
    return enforce_terms(plan, document, named, check=check, repair=repair)


def _divided(document: TranslationDocument, group: range, translation: str, *, check: CheckLine) -> list[str] | None:
    lines = [document.lines[at] for at in group]

    def faults(parts: Sequence[str]) -> int:
        return sum(len(check(line, part)) for line, part in zip(lines, parts, strict=False))

    return divide(translation, [line.text.strip() for line in lines], language=document.target, faults=faults)


def _with_names(
    plan: TranslationPlan, sources: Sequence[str], texts: Sequence[str], names: frozenset[str], repair: Repair
) -> list[str]:
    """Translates lines that lost a name again with the name as a placeholder, and keeps those that have it then."""
    lost = {at: lost_names(source, text, names) for at, (source, text) in enumerate(zip(sources, texts, strict=True))}
    again = [at for at, missing in lost.items() if missing]
    result = list(texts)
    kept = translate_along(plan, [with_kept_names(sources[at], lost[at]) for at in again])
    for at, translation in zip(again, kept, strict=True):
        text = repair(at, without_placeholders(translation, lost[at]))
        if len(lost_names(sources[at], text, names)) < len(lost[at]):
            result[at] = text
    return result
