"""Translates transcript segments into the lines of a dub script, with slots and candidate texts."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cutroom.engines.registry import Engines
from cutroom.engines.translation.document import DocumentTranslation
from cutroom.engines.translation.document_routing import translate_document
from cutroom.engines.translation.port import Quality
from cutroom.engines.translation.routing import (
    TranslationPlan,
    lowest_quality,
    plan_translation,
    translate_along,
)
from cutroom.jobs.step_progress import ReportProgress, portion
from cutroom.products.dubs.line_sync import (
    MAX_NATURAL,
    MAX_TEMPO,
    Slot,
    is_likely_too_long,
    line_slots,
    max_characters,
)
from cutroom.products.dubs.phrasing import DubPhrase, merge_phrases
from cutroom.products.dubs.script import DubLine, SourceSegment
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.translation_documents import transcript_document
from cutroom.text.glossary.line_glossary import line_glossary, without_broken_terms
from cutroom.text.glossary.terms import Glossary
from cutroom.text.shortening import shorter_variants

LINE_ID_LENGTH = 16
TRANSLATION_FRACTION = 0.6  # of the time; the rest is spent on shorter variants of long lines
# Voices differ in speed by about this factor, so that shorter wordings are prepared for lines that may need them.
VOICE_SPREAD = 1.1


@dataclass(frozen=True, slots=True)
class DubSource:
    """What is dubbed: the segments that are heard, in order, and what is known about the talk."""

    segments: Sequence[TranscriptSegment]
    language: str
    speakers: Sequence[Mapping[str, Any]]
    title: str | None
    until_seconds: float
    ids: Sequence[str] = ()  # of the segments
    glossary: Glossary = field(default_factory=Glossary)
    translations: Mapping[str, str] = field(default_factory=dict)  # texts that are spoken as they are, by segment
    translations_quality: Quality | None = None
    silent: Sequence[tuple[float, float]] = ()  # speech that the dub leaves out
    deleted: Sequence[tuple[float, float]] = ()  # when deleted words were said, in order and apart

    @property
    def untranslated(self) -> list[int]:
        """The positions of segments that have no translation."""
        known = [id_ in self.translations for id_ in self.ids] or [False] * len(self.segments)
        return [at for at, is_known in enumerate(known) if not is_known]


@dataclass(frozen=True, slots=True)
class TranslatedLines:
    """The lines of a script, and the quality class and engines of their translation."""

    lines: tuple[DubLine, ...] = ()
    quality: str = Quality.PUBLISHABLE.value
    engines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LineTexts:
    """The candidate texts of a line that stays as it is, and the reasons to review its translation."""

    texts: tuple[str, ...]
    reasons: tuple[str, ...] = ()


def line_id(segment_ids: Sequence[str]) -> str:
    """The id of a line that is made of these segments; it keeps the id when it loses some of them."""
    return "l" + hashlib.sha256(" ".join(segment_ids).encode()).hexdigest()[:LINE_ID_LENGTH]


def translate_lines(
    engines: Engines, source: DubSource, target: str, *, on_progress: ReportProgress
) -> TranslatedLines:
    """Translates the segments as one document, and merges those that need each other's time."""
    if not source.segments:
        return TranslatedLines()
    positions, plan = source.untranslated, None
    given = source.translations
    texts = {at: LineTexts((given[id_],)) for at, id_ in enumerate(source.ids) if id_ in given}
    qualities = [source.translations_quality] if texts and source.translations_quality is not None else []
    if positions:
        plan = plan_translation(engines.translators(), source=source.language, target=target)
        until_lines = portion(on_progress, 0.0, TRANSLATION_FRACTION)
        translation = _translate(engines, source, plan, positions, on_progress=until_lines)
        qualities.append(translation.quality)
        for at, line in zip(positions, translation.lines, strict=True):
            texts[at] = LineTexts((line.text,), line.reasons)
    ordered = [texts[at] for at in range(len(source.segments))]
    lines = _make_lines(source, ordered, plan, target, on_progress=portion(on_progress, TRANSLATION_FRACTION, 1.0))
    engine_names = tuple(leg.translator.name for leg in plan.legs) if plan is not None else ()
    return TranslatedLines(tuple(lines), lowest_quality(qualities).value, engine_names)


def translate_texts(
    engines: Engines, source: DubSource, target: str, *, on_progress: ReportProgress
) -> list[LineTexts]:
    """Translates segments that are lines already."""
    if not source.segments:
        return []
    plan = plan_translation(engines.translators(), source=source.language, target=target)
    translation = _translate(engines, source, plan, range(len(source.segments)), on_progress=on_progress)
    spans = [(each.start_seconds, each.end_seconds) for each in source.segments]
    found = []
    for segment, slot, line in zip(
        source.segments,
        line_slots(spans, until_seconds=source.until_seconds, deleted=source.deleted),
        translation.lines,
        strict=True,
    ):
        times = (segment.start_seconds, segment.end_seconds)
        phrase = DubPhrase(*times, segment.speaker, segment.text, line.text, line.reasons)
        texts = candidate_texts(phrase, slot, plan)
        terms = line_glossary(source.glossary, phrase.source, texts)
        kept = without_broken_terms(terms, phrase.source, texts)
        found.append(LineTexts(tuple(dict.fromkeys(kept)), line.reasons))
    return found


def _translate(
    engines: Engines, source: DubSource, plan: TranslationPlan, positions: Sequence[int], *, on_progress: ReportProgress
) -> DocumentTranslation:
    """Translates the segments at these positions as one document, in which each line has the time of its slot."""
    spans = [(each.start_seconds, each.end_seconds) for each in source.segments]
    slots = line_slots(spans, until_seconds=source.until_seconds, deleted=source.deleted)
    document = transcript_document(
        [source.segments[at] for at in positions],
        source=plan.source,
        target=plan.target,
        speakers=source.speakers,
        title=source.title,
        max_characters=lambda at: max_characters(slots[positions[at]], language=plan.target),
        glossary=source.glossary.rules,
    )
    return translate_document(
        plan,
        document,
        translators=engines.translators(),
        identifier=engines.language_identifier(),
        embedder=engines.text_embedder(),
        on_progress=on_progress,
    )


def _make_lines(
    source: DubSource,
    translated: Sequence[LineTexts],
    plan: TranslationPlan | None,
    target: str,
    *,
    on_progress: ReportProgress,
) -> list[DubLine]:
    """Turns translated segments into lines with slots and candidate texts; existing translations have no others."""
    phrases = merge_phrases(
        [
            DubPhrase(
                each.start_seconds,
                each.end_seconds,
                each.speaker,
                each.text,
                made.texts[0],
                made.reasons,
                known,
                is_given=any(one.id in source.translations for one in known),
            )
            for each, made, known in zip(source.segments, translated, _known_segments(source), strict=True)
        ],
        language=target,
    )
    spans = [(each.start_seconds, each.end_seconds) for each in phrases]
    slots = line_slots(spans, until_seconds=source.until_seconds, deleted=source.deleted)
    lines = []
    for number, (phrase, slot) in enumerate(zip(phrases, slots, strict=True)):
        texts: tuple[str, ...] = (phrase.text,)
        if plan is not None and not any(each.id in source.translations for each in phrase.segments):
            texts = tuple(dict.fromkeys(candidate_texts(phrase, slot, plan)))
        on_progress((number + 1) / len(phrases))
        times = (slot.start_seconds, slot.end_seconds, slot.latest_end_seconds)
        terms = line_glossary(source.glossary, phrase.source, texts)
        kept = tuple(dict.fromkeys(without_broken_terms(terms, phrase.source, texts)))
        line = DubLine(number, *times, phrase.speaker, phrase.source, kept, phrase.reasons, segments=phrase.segments)
        id_ = line_id([each.id for each in phrase.segments]) if phrase.segments else ""
        lines.append(replace(line, id=id_, glossary=terms))
    return lines


def _known_segments(source: DubSource) -> list[tuple[SourceSegment, ...]]:
    """For each segment, the record of it that lines keep; empty if the segments have no ids."""
    if not source.ids:
        return [()] * len(source.segments)
    return [
        (SourceSegment(id_, each.start_seconds, each.end_seconds, each.speaker, each.text),)
        for id_, each in zip(source.ids, source.segments, strict=True)
    ]


def candidate_texts(phrase: DubPhrase, slot: Slot, plan: TranslationPlan) -> list[str]:
    """The translation, then wordings that say the same in fewer words, then shorter ones if nothing else may fit."""
    language, texts = plan.target, [phrase.text]
    if not is_likely_too_long(phrase.text, slot, language=language, tempo=MAX_NATURAL / VOICE_SPREAD):
        return texts
    texts += shorter_variants(phrase.text, language=language, keeps_meaning=True)
    if not is_likely_too_long(phrase.text, slot, language=language, tempo=MAX_TEMPO):
        return texts
    shorter_sources = shorter_variants(phrase.source, language=plan.source)
    translated = translate_along(plan, shorter_sources) if shorter_sources else []
    return [*texts, *translated, *shorter_variants([phrase.text, *translated][-1], language=language)]
