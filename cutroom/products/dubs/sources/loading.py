"""Reads what a dub is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from cutroom.engines.recognition.port import Word
from cutroom.engines.translation.port import Quality
from cutroom.errors import Code, CutroomError
from cutroom.glossary.service import load_glossary
from cutroom.library.service import get_duration, get_title
from cutroom.media.cutting.spans import merge_spans
from cutroom.platform.db import Connection
from cutroom.products.captions.editing.current_texts import read_current_texts
from cutroom.products.dubs.artifacts import DubRef
from cutroom.products.dubs.script_lines import DubSource
from cutroom.products.dubs.sources.options import DubTextOptions
from cutroom.products.transcripts.alignment import attach_words
from cutroom.products.transcripts.document import TranscriptDocument, document_of
from cutroom.products.transcripts.optimizing.script import OptimizedScript, spoken_document, spoken_texts
from cutroom.products.transcripts.optimizing.stored_scripts import find_script
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.service import StoredTranscript, load_transcript
from cutroom.text.glossary.terms import Glossary


@dataclass(frozen=True, slots=True)
class DubTranslations:
    """Translations that exist already, by segment."""

    texts: Mapping[str, str] = field(default_factory=dict)
    quality: Quality | None = None


@dataclass(frozen=True)
class LoadedDubSource:
    """A transcript and everything else that a dub of it needs."""

    transcript: StoredTranscript
    duration_seconds: float | None
    title: str | None
    glossary: Glossary
    translations: DubTranslations
    script: OptimizedScript | None = None  # None if the transcript is dubbed as it is

    @property
    def language(self) -> str:
        return self.transcript.language

    def to_source(self, words: Sequence[Word]) -> DubSource:
        """What is dubbed: the segments that are heard, in order."""
        segments = attach_words(self.transcript.segments, words)
        spoken = list(zip(segments, self.transcript.segment_ids, strict=True))
        kept = [(segment, id_) for segment, id_ in spoken if not segment.deleted]
        heard = [(said, id_) for segment, id_ in kept if (said := self._spoken(segment, id_)).text]
        heard.sort(key=lambda each: (each[0].start_seconds, each[0].end_seconds))
        known = {id_ for _, id_ in heard}
        return DubSource(
            [segment for segment, _ in heard],
            self.language,
            self.transcript.speakers,
            self.title,
            self.duration_seconds or max((each.end_seconds for each, _ in heard), default=0.0),
            [id_ for _, id_ in heard],
            self.glossary,
            self.translations.texts,
            self.translations.quality,
            [(each.start_seconds, each.end_seconds) for each, id_ in kept if id_ not in known],
            merge_spans((each.start_seconds, each.end_seconds) for each, _ in spoken if each.deleted),
        )

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        """What the script says of each segment."""
        if self.script is None:
            return {}
        return spoken_texts(document_of(self.transcript.segments, ()).kept, self.script)

    def _spoken(self, segment: TranscriptSegment, id_: str) -> TranscriptSegment:
        text = self._texts.get(id_, segment.text)
        return segment if text == segment.text else replace(segment, text=text, words=())


async def load_dub_source(connection: Connection, dub: DubRef, options: DubTextOptions) -> LoadedDubSource:
    """The current transcript, and the texts that the options ask for."""
    transcript = await load_transcript(connection, dub.library_id, dub.video_id)
    translations = await find_translations(connection, dub, options, document_of(transcript.segments, ()))
    if options.uses_captions and translations.quality is None:
        message = "The captions that this dub should use were deleted."
        details: dict[str, Any] = {"reason": "no_captions", "languages": [dub.language]}
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)
    return LoadedDubSource(
        transcript,
        await get_duration(connection, dub.library_id, dub.video_id),
        await get_title(connection, dub.library_id, dub.video_id),
        await load_glossary(connection, dub.library_id, dub.video_id, source=transcript.language, target=dub.language),
        translations,
        await find_script(connection, dub.library_id, dub.video_id) if options.uses_script else None,
    )


async def dubbed_document(
    connection: Connection, dub: DubRef, options: DubTextOptions, document: TranscriptDocument
) -> TranscriptDocument:
    """The transcript as the dub says it, with silent segments as deleted ones."""
    if not options.uses_script:
        return document
    return spoken_document(document, await find_script(connection, dub.library_id, dub.video_id))


async def find_translations(
    connection: Connection, dub: DubRef, options: DubTextOptions, document: TranscriptDocument
) -> DubTranslations:
    """The texts of captions if the dub uses them, and there are any."""
    if not options.uses_captions:
        return DubTranslations()
    found = await read_current_texts(connection, dub.library_id, dub.video_id, dub.language, document.kept)
    return DubTranslations(found.texts, found.quality) if found is not None else DubTranslations()
