"""Activities that align the words of an edited transcript with its sound, and publish the revision."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from temporalio import activity

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition.port import WordAligner
from cutroom.engines.registry import Engines
from cutroom.engines.samples import read_samples
from cutroom.engines.types import SAMPLE_RATE
from cutroom.jobs.lifecycle import start_playback
from cutroom.jobs.steps import heartbeating
from cutroom.library.service import get_duration
from cutroom.media.audio import decode_speech
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.media.subtitles import MAX_SECONDS
from cutroom.platform.db import Connection, Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts import service
from cutroom.products.transcripts.alignment import read_words, write_alignment
from cutroom.products.transcripts.document import DocumentSegment, DocumentWord, TranscriptDocument, speaker_rows
from cutroom.products.transcripts.editing.alignment_chunks import (
    MARGIN_SECONDS,
    AlignmentPlan,
    SoundRange,
    chunk_of,
    plan_chunks,
    read_aligned,
    sound_ranges,
    write_aligned,
)
from cutroom.products.transcripts.editing.publishing import (
    MAX_UNPUBLISHED,
    current_rows,
    published_rows,
    unaligned_segments,
    with_words,
)
from cutroom.products.transcripts.editing.revisions import TranscriptState, find_state, publish, read_document
from cutroom.products.transcripts.editing.service import AlignmentRef
from cutroom.products.transcripts.editing.splitting import fit_words
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.subtitles import store_subtitles

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AlignmentActivities:
    """Activities of the alignment workflow; outputs are stored under deterministic keys and reused on retries."""

    database: Database
    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox
    engines: Engines

    @activity.defn(name="plan_alignment")
    async def plan_alignment(self, ref: AlignmentRef) -> AlignmentPlan:
        """Which parts of the revision are to be aligned."""
        found = await self._load(ref)
        if found is None:
            return AlignmentPlan([], is_superseded=True)
        state, document = found
        return AlignmentPlan(plan_chunks(unaligned_segments(state.segments, document)), is_superseded=False)

    @activity.defn(name="align_chunk")
    async def align_chunk(self, ref: AlignmentRef, chunk: int) -> None:
        """Align the edited segments of one chunk, and store their words."""
        stored = _work_path(ref, f"{chunk:05}.json")
        if await self.storage.size(stored) is not None:  # stored by an interrupted or earlier attempt
            return
        found = await self._load(ref)
        if found is None:
            return
        state, document = found
        ranges = sound_ranges(chunk_of(unaligned_segments(state.segments, document), chunk))
        aligned: dict[int, Sequence[DocumentWord]] = {}
        async with heartbeating():
            aligner = await asyncio.to_thread(self.engines.word_aligner)
            path = service.speech_path(ref.library_id, ref.video_id)
            if aligner is not None and await self.storage.size(path) is not None:
                for each in ranges:
                    aligned |= await self._align(aligner, path, each, language=state.language)
            await self.storage.put(stored, write_aligned(aligned))

    async def _align(
        self, aligner: WordAligner, path: str, range_: SoundRange, *, language: str
    ) -> dict[int, Sequence[DocumentWord]]:
        async with self.media_cache.fetch(path) as copy:
            with self.media_cache.temp_dir() as temp_dir:
                raw = await decode_speech(
                    copy.path,
                    output=temp_dir,
                    sandbox=self.sandbox,
                    start_seconds=range_.start_seconds,
                    seconds=range_.end_seconds - range_.start_seconds,
                )
                samples = await asyncio.to_thread(read_samples, raw)
        aligned: dict[int, Sequence[DocumentWord]] = {}
        for each in range_.segments:
            words = await asyncio.to_thread(
                align_segment, aligner, each.segment, samples, from_seconds=range_.start_seconds, language=language
            )
            if words:
                aligned[each.position] = words
        return aligned

    @activity.defn(name="publish_revision")
    async def publish_revision(self, ref: AlignmentRef) -> bool:
        """Store the words and subtitles of the revision, and make it the base of later edits; False if it is not."""
        async with heartbeating():
            while (found := await self._load(ref)) is not None:
                state, document = found
                segments = await self._segments(ref, state, document)
                path = service.revision_words_path(ref.library_id, ref.video_id, ref.revision)
                content = await asyncio.to_thread(write_alignment, segments, language=state.language)
                await self.storage.put(path, content)
                if await self._publish(ref, state, document, segments=segments, path=path):
                    return True
        return False

    async def _publish(
        self,
        ref: AlignmentRef,
        state: TranscriptState,
        document: TranscriptDocument,
        *,
        segments: Sequence[TranscriptSegment],
        path: str,
    ) -> bool:
        """False if another publication came first: the segments have to be computed again."""
        async with self.database.transaction(ref.library_id) as connection:
            current = await find_state(connection, ref.library_id, ref.video_id, lock=True)
            if current is None or current.published_revision != state.published_revision:
                return False
            await publish(
                connection,
                ref.library_id,
                ref.video_id,
                revision=ref.revision,
                segments=published_rows(document, segments),
                speakers=speaker_rows(document),
                alignment_path=path,
            )
            duration = await get_duration(connection, ref.library_id, ref.video_id)
            # Under the row lock, so that subtitles of an older revision never replace those of a newer one.
            await store_subtitles(
                self.storage,
                [segment for segment in segments if not segment.deleted],
                library_id=ref.library_id,
                video_id=ref.video_id,
                language=state.language,
                until_seconds=duration or MAX_SECONDS,
                labels=document.labels,
            )
            await start_playback(connection, ref.library_id, ref.video_id, cause=ref.workflow_id)
        return True

    @activity.defn(name="delete_alignment")
    async def delete_alignment(self, ref: AlignmentRef) -> None:
        """Delete the intermediate words of an alignment, and those of revisions published long before it."""
        await self.storage.delete_under(_work_path(ref, ""))
        older = [each for each in await self.storage.names(_words_prefix(ref)) if _revision_of(each) < ref.revision]
        for path in sorted(older, key=_revision_of)[:-1]:  # a product may be reading the one before
            await self.storage.delete(path)

    async def _segments(
        self, ref: AlignmentRef, state: TranscriptState, document: TranscriptDocument
    ) -> list[TranscriptSegment]:
        aligned: dict[int, list[DocumentWord]] = {}
        for path in await self.storage.names(_work_path(ref, "")):
            aligned |= read_aligned(await self._read(path))
        exists = await self.storage.size(state.alignment_path) is not None
        words = read_words(await self._read(state.alignment_path)) if exists else []
        return await asyncio.to_thread(with_words, current_rows(state.segments, document), words, aligned)

    async def _load(self, ref: AlignmentRef) -> tuple[TranscriptState, TranscriptDocument] | None:
        """The revision, unless it is gone, published already, or soon replaced by a later one."""
        async with self.database.transaction(ref.library_id) as connection:
            state = await find_state(connection, ref.library_id, ref.video_id)
            if state is None or not _is_needed(state, ref):
                return None
            return state, await _document(connection, ref, state)

    async def _read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])


def align_segment(
    aligner: WordAligner, segment: DocumentSegment, samples: "Samples", *, from_seconds: float, language: str
) -> list[DocumentWord]:
    """The words of a segment as an engine hears them; none if it cannot. `samples` begin at `from_seconds`."""
    start = max(0.0, segment.start_seconds - MARGIN_SECONDS - from_seconds)
    end = segment.end_seconds + MARGIN_SECONDS - from_seconds
    sound = samples[round(start * SAMPLE_RATE) : round(end * SAMPLE_RATE)]
    if len(sound) > aligner.max_seconds * SAMPLE_RATE:
        return []
    try:
        heard = aligner.align(sound, segment.text, language=language)
    except EngineUnavailableError:
        raise
    except EngineError as error:
        _log.warning("segment not aligned", extra={"segment_id": segment.id, "reason": str(error)})
        return []
    offset = from_seconds + start
    known = [DocumentWord(each.text, each.start_seconds + offset, each.end_seconds + offset) for each in heard]
    return fit_words(segment.text, segment.start_seconds, segment.end_seconds, known=known) if known else []


def _is_needed(state: TranscriptState, ref: AlignmentRef) -> bool:
    if not max(state.published_revision, state.recognized_revision) < ref.revision <= state.revision:
        return False
    is_newest = ref.revision == state.revision
    return is_newest or ref.revision - state.published_revision >= MAX_UNPUBLISHED


async def _document(connection: Connection, ref: AlignmentRef, state: TranscriptState) -> TranscriptDocument:
    return await read_document(connection, ref.library_id, ref.video_id, state, ref.revision)


def _words_prefix(ref: AlignmentRef) -> str:
    return service.revision_words_prefix(ref.library_id, ref.video_id)


def _revision_of(path: str) -> int:
    number = path.rpartition("-")[2].removesuffix(".json")
    return int(number) if number.isdecimal() else 0


def _work_path(ref: AlignmentRef, name: str) -> str:
    return service.aligned_path(ref.library_id, ref.video_id, ref.revision, name=name)
