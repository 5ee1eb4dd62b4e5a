"""Reads and edits the lines of a dub, and starts their regeneration."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.capabilities.rules import stock_voice_id
from cutroom.capabilities.service import available_voices
from cutroom.credits.pricing import BillableItem, PriceList, to_credits
from cutroom.credits.rules import Charge
from cutroom.credits.service import get_balance, is_subscriber
from cutroom.engines.translation.port import Quality
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.jobs.estimates import whole_percent
from cutroom.jobs.ids import DubProduct, InternalJobType, JobKey, JobType
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.jobs.states import JobState
from cutroom.library.service import get_duration, get_video
from cutroom.library.trash import keep_video
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.dubs.artifacts import DubRef
from cutroom.products.dubs.editing.changes import InvalidChangeError, apply_changes
from cutroom.products.dubs.editing.lines import PublishedDub
from cutroom.products.dubs.editing.pricing import RegenerationPrice, price_regeneration
from cutroom.products.dubs.editing.schemas import (
    DubRegenerationRequest,
    DubSegment,
    DubSegmentEdits,
    DubSegments,
    DubSegmentsChange,
    DubSegmentsPatch,
    LineRegeneration,
    LineRegenerationJob,
    LineRegenerationQuote,
    PublishedSpeech,
)
from cutroom.products.dubs.editing.staleness import LineState, chosen_states, line_states
from cutroom.products.dubs.editing.state import DubKey, DubState, find_dub, read_published, save_edits, save_redub
from cutroom.products.dubs.script import AssignedVoice
from cutroom.products.dubs.sources.loading import dubbed_document
from cutroom.products.speech.rules import fingerprint
from cutroom.products.transcripts.document import TranscriptDocument
from cutroom.products.transcripts.editing.revisions import find_state, read_document
from cutroom.text.language_tags import language_of

UNFINISHED = frozenset({JobState.QUEUED, JobState.PROCESSING})
CLONE = "clone"


@dataclass(frozen=True, slots=True)
class OpenDub:
    """A dub as it is now: stored, published, and compared with the current transcript."""

    state: DubState
    published: PublishedDub
    transcript_revision: int
    document: TranscriptDocument
    lines: Sequence[LineState]
    is_draft: bool
    duration_seconds: float


@dataclass(frozen=True, slots=True)
class DubEditor:
    """A caller who reads and edits the lines of one dub now."""

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

    async def read(self) -> DubSegments:
        """All lines, with what is outdated."""
        dub = await self._open()
        return DubSegments(
            video_id=self.video_id,
            language=self.language,
            product=self.product.value,
            revision=dub.state.revision,
            transcript_revision=dub.transcript_revision,
            published_transcript_revision=dub.published.transcript_revision,
            segments=[described(each, dub.published) for each in dub.lines],
            regeneration=self._quote(dub, dub.lines),
            job=await self._job(dub.state.redub_job_id),
        )

    async def edit(self, patch: DubSegmentsPatch) -> DubSegmentsChange:
        """Change lines of the current revision; raise CONFLICT if the caller has seen an older one."""
        dub = await self._open(revision=patch.revision)
        await self._require_voices(patch)
        changes = [each.to_change() for each in patch.changes]
        try:
            edits = apply_changes(dub.lines, dub.state.edits, changes)
        except InvalidChangeError as error:
            raise invalid_field(error.field, error.message) from error
        revision = await save_edits(self.connection, self.key, edits)
        lines = line_states(dub.published.lines, dub.document, edits)
        changed = {each.id for each in changes}
        return DubSegmentsChange(
            revision=revision,
            segments=[described(each, dub.published) for each in lines if each.id in changed],
            regeneration=self._quote(dub, lines, revision=revision),
        )

    async def quote(self, request: DubRegenerationRequest) -> LineRegenerationQuote:
        """The price of a regeneration, by the same rules that charge it."""
        dub = await self._open(revision=request.revision, transcript_revision=request.transcript_revision, lock=False)
        return self._quote(dub, self._chosen(dub, request.segment_ids))

    async def regenerate(self, request: DubRegenerationRequest) -> LineRegeneration:
        """Hold the price of the stale lines, and start the job that makes them again."""
        await keep_video(self.connection, self.principal.library_id, self.video_id)  # videos are locked first
        dub = await self._open(revision=request.revision, transcript_revision=request.transcript_revision)
        chosen = self._chosen(dub, request.segment_ids)
        found = self._price(dub, chosen)
        if found.item is None:
            raise CutroomError(
                Code.FAILED_PRECONDITION,
                message="These lines are up to date.",
                details={"reason": "up_to_date"},
            )
        key = JobKey(InternalJobType.REDUB, self._subject(dub, chosen))
        running = await self._running(dub.state, key)
        if running is None:
            running = await self._start(key, dub, chosen, found.item)
        return LineRegeneration(
            video_id=self.video_id,
            language=self.language,
            product=self.product.value,
            job=running,
            quote=self._quote(dub, chosen),
            balance=to_credits(await get_balance(self.connection, self.principal.library_id)),
        )

    async def _start(
        self, key: JobKey, dub: OpenDub, chosen: Sequence[LineState], item: BillableItem
    ) -> LineRegenerationJob:
        plan = {
            "dubbed_video_id": self.video_id,
            "language": self.language,
            "product": self.product.value,
            "revision": dub.state.revision,
            "transcript_revision": dub.transcript_revision,
            "lines": [each.id for each in chosen],
        }
        charge = Charge((item,), is_subscriber=is_subscriber(self.principal))
        new_job = NewJob(key, None, plan=plan, charge=charge)
        await create_jobs(self.connection, self.principal, [new_job], prices=self.prices, now=self.now)
        await save_redub(self.connection, self.key, key.id)
        job = await self._job(key.id)
        assert job is not None
        return job

    async def _open(
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
        document = await dubbed_document(self.connection, dub, published.options, document)
        return OpenDub(
            state,
            published,
            transcript.revision,
            document,
            line_states(published.lines, document, state.edits),
            job["quality"] == Quality.DRAFT,
            await get_duration(self.connection, library_id, self.video_id) or 0.0,
        )

    async def _require_voices(self, patch: DubSegmentsPatch) -> None:
        """Refuse voices that do not exist, or that speak another language."""
        wanted = {at: each.voice for at, each in enumerate(patch.changes) if each.voice is not None}
        if not wanted:
            return
        known = {each.id: each.language for each in await available_voices(self.connection, now=self.now)}
        for at, voice in wanted.items():
            if voice not in known or language_of(known[voice]) != language_of(self.language):
                raise invalid_field(f"changes.{at}.voice", "There is no such voice of the language of the dub.")

    async def _running(self, state: DubState, key: JobKey) -> LineRegenerationJob | None:
        """The same regeneration if it is running; another one is refused, which would lose what the first one makes."""
        running = await self._job(state.redub_job_id)
        if running is None or running.status not in UNFINISHED:
            return None
        if running.id != key.id:
            message = "The dub is being regenerated."
            details = {"reason": "regenerating", "jobId": running.id}
            raise CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)
        return running

    def _chosen(self, dub: OpenDub, ids: Collection[str] | None) -> list[LineState]:
        known = {each.id for each in dub.lines}
        for at, id_ in enumerate(ids or ()):
            if id_ not in known:
                raise invalid_field(f"segmentIds.{at}", "There is no such line.")
        return chosen_states(dub.lines, set(ids) if ids is not None else None)

    def _subject(self, dub: OpenDub, chosen: Sequence[LineState]) -> str:
        """Identifies a regeneration, so that the same request leads to the same job."""
        inputs = {
            "dub": self.key.columns,
            "revision": dub.state.revision,
            "transcript": dub.transcript_revision,
            **({"texts": self._texts(dub)} if dub.published.options.uses_script else {}),
            "base": dub.state.generation,
            "lines": [each.id for each in chosen],
        }
        return "0" + fingerprint(inputs)[:25]  # has the form of an id

    def _texts(self, dub: OpenDub) -> str:
        """A digest of what the optimized script says, which has revisions of its own."""
        return fingerprint({"texts": [[each.id, each.text] for each in dub.document.kept]})

    def _price(self, dub: OpenDub, states: Sequence[LineState]) -> RegenerationPrice:
        return price_regeneration(
            states,
            language=self.language,
            product=self.product.value,
            is_draft=dub.is_draft,
            prices=self.prices,
            duration_seconds=dub.duration_seconds,
        )

    def _quote(
        self, dub: OpenDub, states: Sequence[LineState], *, revision: int | None = None
    ) -> LineRegenerationQuote:
        found = self._price(dub, states)
        return LineRegenerationQuote(
            revision=revision or dub.state.revision,
            transcript_revision=dub.transcript_revision,
            segment_ids=[each.id for each in states if each.is_stale],
            seconds=found.milliseconds / 1000,
            credits=to_credits(found.millicredits),
            estimated_seconds=found.estimated_seconds,
        )

    async def _job(self, job_id: str | None) -> LineRegenerationJob | None:
        """The state of a regeneration, which is an internal job."""
        if job_id is None:
            return None
        row = await self.connection.fetchrow(
            """SELECT id, status, progress, error_code, error_message, error_details FROM jobs
               WHERE library_id = $1 AND id = $2""",
            self.principal.library_id,
            job_id,
        )
        if row is None:
            return None
        error = {"code": row["error_code"], "message": row["error_message"], "details": row["error_details"] or {}}
        return LineRegenerationJob(
            id=row["id"],
            status=row["status"],
            progress=whole_percent(row["progress"]),
            error=error if row["status"] == JobState.FAILED else None,
        )


def described(state: LineState, dub: PublishedDub) -> DubSegment:
    """A line as the API shows it."""
    source, edits, published = state.source, state.edits, state.published
    placed = published.placed if published is not None else None
    values = {name: value for name, value in edits.to_row().items() if name != "edited_source"}
    return DubSegment(
        id=source.id,
        segment_ids=list(source.segment_ids),
        start=round(source.start_seconds, 3),
        end=round(source.end_seconds, 3),
        speaker=source.speaker,
        source=source.text,
        text=_text(state),
        voice=edits.voice or _voice_id(dub.voice_of(source.speaker)),
        edits=DubSegmentEdits(**values),
        published=PublishedSpeech(
            text=placed.text,
            start=round(placed.start_seconds, 3),
            duration=round(placed.seconds, 3),
            tempo=round(placed.tempo, 3),
        )
        if placed is not None
        else None,
        stale=list(state.reasons),
        review=state.desired is not None and state.desired.needs_review,
    )


def _text(state: LineState) -> str | None:
    if state.edits.text is not None:
        return state.edits.text
    published = state.published
    if published is None or published.translated != state.source.text_fingerprint or not published.translation:
        return None
    if published.placed is not None and published.placed.text in published.translation:
        return published.placed.text  # the wording that fits
    return published.translation[0]


def _voice_id(voice: AssignedVoice | None) -> str | None:
    if voice is None:
        return None
    return stock_voice_id(voice.engine, voice.voice) if voice.voice is not None else CLONE
