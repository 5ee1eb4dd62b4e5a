"""Translates some lines of a transcript again, each with its neighbors as context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.engines.registry import Engines
from cutroom.engines.translation.document_routing import translate_document
from cutroom.engines.translation.port import Quality
from cutroom.engines.translation.routing import lowest_quality, plan_translation
from cutroom.glossary.broken_terms import CheckedLine, check_lines
from cutroom.jobs.step_progress import ReportProgress, portion
from cutroom.products.captions.editing.rules import translation_windows
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.captions.editing.tracks import CurrentTranscript
from cutroom.products.captions.translated_lines import caption_segment, flagged_line, max_characters
from cutroom.products.transcripts.document import DocumentSegment
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.translation_documents import transcript_document
from cutroom.text.glossary.rules import BrokenTerm
from cutroom.text.glossary.terms import Glossary


@dataclass(frozen=True, slots=True)
class TalkContext:
    """What is known about a recording beside its lines."""

    speakers: Sequence[Mapping[str, Any]]
    title: str | None
    glossary: Glossary


@dataclass(frozen=True, slots=True)
class RetranslatedLines:
    """New translations by the id of their segment, and what the job's result says of them."""

    segments: Mapping[str, CaptionSegment]
    quality: Quality | None = None
    engines: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    flagged: Sequence[dict[str, Any]] = ()
    fallback_lines: int = 0
    broken: Sequence[tuple[CheckedLine, BrokenTerm]] = ()


def translate_windows(
    engines: Engines,
    transcript: CurrentTranscript,
    wanted: Sequence[str],
    *,
    target: str,
    context: TalkContext,
    report_progress: ReportProgress,
) -> RetranslatedLines:
    """Translate the segments with these ids; of their neighbors, nothing is kept."""
    translators = engines.translators()
    plan = plan_translation(translators, source=transcript.language, target=target)
    identifier, embedder = engines.language_identifier(), engines.text_embedder()
    positions = {segment.id: at for at, segment in enumerate(transcript.segments)}
    windows = translation_windows([positions[each] for each in wanted], len(transcript.segments))
    lines = sum(window.end - window.start for window in windows)
    segments: dict[str, CaptionSegment] = {}
    flagged: list[dict[str, Any]] = []
    delivered: list[CheckedLine] = []
    qualities: list[Quality] = []
    done = fallback_lines = 0
    for window in windows:
        spoken = [_spoken(each) for each in transcript.segments[window.start : window.end]]
        document = transcript_document(
            spoken,
            source=transcript.language,
            target=target,
            speakers=context.speakers,
            title=context.title,
            max_characters=[max_characters(each) for each in spoken].__getitem__,
            glossary=context.glossary.rules,
        )
        translation = translate_document(
            plan,
            document,
            translators=translators,
            identifier=identifier,
            embedder=embedder,
            on_progress=portion(report_progress, done / lines, (done + len(spoken)) / lines),
        )
        done += len(spoken)
        qualities.append(translation.quality)
        for at in window.wanted:
            source, line = spoken[at - window.start], translation.lines[at - window.start]
            segment_id = transcript.segments[at].id
            segments[segment_id] = caption_segment(segment_id, source, line, revision=transcript.revision, via=plan.via)
            delivered.append(CheckedLine(at, source.start_seconds, source.text, line.text))
            fallback_lines += line.is_fallback
            if line.reasons:
                flagged.append({"id": segment_id, **flagged_line(at, source, line)})
    names = tuple(leg.translator.name for leg in plan.legs)
    broken = check_lines(context.glossary.rules, delivered)
    return RetranslatedLines(segments, lowest_quality(qualities), names, plan.via, flagged, fallback_lines, broken)


def _spoken(segment: DocumentSegment) -> TranscriptSegment:
    return TranscriptSegment(segment.start_seconds, segment.end_seconds, segment.speaker, segment.text, ())
