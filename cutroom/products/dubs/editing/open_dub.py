"""Opens a finished dub for a caller: as it is stored and published, and compared with the current transcript."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.capabilities.service import available_voices, find_stock_voice
from cutroom.credits.pricing import PriceList
from cutroom.engines.translation.port import Quality
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.glossary.service import load_glossary
from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.jobs.states import JobState
from cutroom.library.service import get_duration, get_video
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.dubs.artifacts import DubRef
from cutroom.products.dubs.editing.comparison import ComparedDub, compare_dub
from cutroom.products.dubs.editing.lines import LineEdits, PublishedDub
from cutroom.products.dubs.editing.staleness import LineState
from cutroom.products.dubs.editing.state import DubKey, DubState, find_dub, read_published
from cutroom.products.dubs.editing.text_fit import TextFit, text_fits
from cutroom.products.dubs.script import AssignedVoice
from cutroom.products.transcripts.document import TranscriptDocument
from cutroom.products.transcripts.editing.revisions import find_state, read_document
from cutroom.text.glossary.terms import Glossary
from cutroom.text.language_tags import language_of
from cutroom.text.phonetic_spelling import phonemes_of

MEASURED_JOBS = 5  # regenerations that estimates are corrected by
_SLOWNESS = f"""SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio) FROM (
    SELECT extract(epoch FROM finished_at - started_at) / (plan ->> 'estimated_seconds')::float8 AS ratio FROM jobs
     WHERE library_id = $1 AND type = 'redub' AND status = 'ready' AND (plan ->> 'estimated_seconds')::float8 > 0
     ORDER BY finished_at DESC LIMIT {MEASURED_JOBS}) measured"""  # noqa: S608 (a constant)
MIN_SLOWNESS, MAX_SLOWNESS = 0.2, 20.0


@dataclass(frozen=True, slots=True)
class OpenDub:
    """A dub as it is now: stored, published, and compared with the current transcript."""

    language: str
    state: DubState
    transcript_revision: int
    compared: ComparedDub
    lines: Sequence[LineState]
    is_draft: bool
    duration_seconds: float
    slowness: float  # how long the last regenerations of the library took, relative to their estimates

    @property
    def published(self) -> PublishedDub:
        return self.compared.published

    @property
    def document(self) -> TranscriptDocument:
        """The transcript as the dub says it."""
        return self.compared.document

    def fits(self, lines: Sequence[LineState]) -> dict[str, TextFit]:
        """How much time each of the lines has."""
        return text_fits(lines, self.published, language=self.language, until_seconds=self.duration_seconds)


@dataclass(frozen=True, slots=True)
class DubAccess:
    """A caller with access to the lines of one dub now."""

    connection: Connection
    principal: Principal
    storage: Storage
    prices: PriceList
    now: datetime
    video_id: str
    language: str
    product: DubProduct

    @property
    def key(self) -> DubKey:
        return DubKey(self.principal.library_id, self.video_id, self.language, self.product.value)

    async def open(
        self, *, revision: int | None = None, transcript_revision: int | None = None, lock: bool = True
    ) -> OpenDub:
        """The dub, which does not change before the transaction ends if it is opened with a revision to change."""
        await get_video(self.connection, self.principal, self.video_id)
        library_id = self.principal.library_id
        job_id = JobKey(JobType.DUB, self.video_id, language=self.language, product=self.product).id
        job = await self.connection.fetchrow(
            """SELECT status, result ->> 'quality' AS quality FROM jobs
               WHERE library_id = $1 AND id = $2 AND output_deleted_at IS NULL""",
            library_id,
            job_id,
        )
        if job is None:
            raise not_found()
        state = await find_dub(self.connection, self.key, lock=lock and revision is not None)
        transcript = await find_state(self.connection, library_id, self.video_id)
        if job["status"] != JobState.READY or state is None or transcript is None:
            message = "There is no finished dub."
            raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "dub", "jobId": job_id})
        is_old = revision is not None and revision != state.revision
        if is_old or (transcript_revision is not None and transcript_revision != transcript.revision):
            message = "The dub or its transcript was changed in the meantime. Get its segments, then repeat the change."
            details = {"revision": state.revision, "transcriptRevision": transcript.revision}
            raise CutroomError(Code.CONFLICT, message=message, details=details)
        document = await read_document(self.connection, library_id, self.video_id, transcript)
        published = await read_published(self.storage, self.key, state, document)
        dub = DubRef(library_id, self.video_id, self.language, self.product.value)
        compared = await compare_dub(self.connection, dub, published, document, state.edits)
        return OpenDub(
            self.language,
            state,
            transcript.revision,
            compared,
            compared.lines,
            job["quality"] == Quality.DRAFT,
            await get_duration(self.connection, library_id, self.video_id) or 0.0,
            await self._slowness(),
        )

    async def _slowness(self) -> float:
        found: float | None = await self.connection.fetchval(_SLOWNESS, self.principal.library_id)
        return min(max(found, MIN_SLOWNESS), MAX_SLOWNESS) if found is not None else 1.0

    async def require_voices(self, wanted: Mapping[str, str]) -> None:
        """Refuse voices that do not exist, or that speak another language; by the field that names them."""
        if not wanted:
            return
        known = {each.id: each.language for each in await available_voices(self.connection, now=self.now)}
        for field, voice in wanted.items():
            if voice not in known or language_of(known[voice]) != language_of(self.language):
                raise invalid_field(field, "There is no such voice of the language of the dub.")

    async def find_voice(self, dub: OpenDub, speaker: str, edits: LineEdits) -> AssignedVoice | None:
        """The voice that speaks a line; None if none was assigned yet."""
        if edits.voice is None:
            return dub.published.voice_of(speaker)
        stock = await find_stock_voice(self.connection, edits.voice)
        return AssignedVoice(stock.engine, stock.name) if stock is not None else None

    async def require_phonetic_voice(self, dub: OpenDub, speaker: str, edits: LineEdits, *, field: str) -> None:
        """Refuse phonemes for a voice that cannot read them."""
        if any(phonemes_of(each) is not None for each in (edits.pronunciation or {}).values()):
            voice = await self.find_voice(dub, speaker, edits)
            if voice is None or not voice.reads_phonemes:
                raise invalid_field(field, "The voice of this line reads no phonemes. Respell the word instead.")

    async def glossary(self) -> Glossary:
        """The terms that apply to the video now."""
        library_id = self.principal.library_id
        transcript = await find_state(self.connection, library_id, self.video_id)
        assert transcript is not None
        return await load_glossary(
            self.connection, library_id, self.video_id, source=transcript.language, target=self.language
        )


def line_of(dub: OpenDub, line_id: str) -> LineState:
    """A line that the transcript still has."""
    state = next((each for each in dub.lines if each.id == line_id), None)
    if state is None:
        raise not_found()
    if state.desired is None:
        message = "The segments of this line were deleted."
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "removed"})
    return state
