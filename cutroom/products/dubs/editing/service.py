"""Reads and edits the lines of a dub, and starts their regeneration."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cutroom.credits.pricing import BillableItem, to_credits
from cutroom.credits.rules import Charge
from cutroom.credits.service import get_balance, is_subscriber
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.jobs.estimates import whole_percent
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.jobs.states import JobState
from cutroom.library.trash import keep_video
from cutroom.products.dubs.editing.changes import InvalidChangeError, LineChange, apply_changes
from cutroom.products.dubs.editing.described_lines import described
from cutroom.products.dubs.editing.lines import ChosenTake
from cutroom.products.dubs.editing.open_dub import DubAccess, OpenDub
from cutroom.products.dubs.editing.pricing import RegenerationPrice, price_regeneration
from cutroom.products.dubs.editing.schemas import (
    DubRegenerationRequest,
    DubSegmentChange,
    DubSegments,
    DubSegmentsChange,
    DubSegmentsPatch,
    LineRegeneration,
    LineRegenerationJob,
    LineRegenerationQuote,
)
from cutroom.products.dubs.editing.staleness import LineState, chosen_states
from cutroom.products.dubs.editing.state import DubState, save_edits, save_redub
from cutroom.products.dubs.editing.takes.service import LinePreviews
from cutroom.products.speech.rules import fingerprint

UNFINISHED = frozenset({JobState.QUEUED, JobState.PROCESSING})


@dataclass(frozen=True, slots=True)
class DubEditor(DubAccess):
    """A caller who reads and edits the lines of one dub now."""

    async def read(self) -> DubSegments:
        """All lines, with what is outdated."""
        dub = await self.open()
        fits = dub.fits(dub.lines)
        return DubSegments(
            video_id=self.video_id,
            language=self.language,
            product=self.product.value,
            revision=dub.state.revision,
            transcript_revision=dub.transcript_revision,
            published_transcript_revision=dub.published.transcript_revision,
            segments=[described(each, dub.published, fits.get(each.id)) for each in dub.lines],
            regeneration=self._quote(dub, dub.lines),
            job=await self._job(dub.state.redub_job_id),
        )

    async def edit(self, patch: DubSegmentsPatch) -> DubSegmentsChange:
        """Change lines of the current revision; raise CONFLICT if the caller has seen an older one."""
        dub = await self.open(revision=patch.revision)
        await self.require_voices(
            {f"changes.{at}.voice": each.voice for at, each in enumerate(patch.changes) if each.voice is not None}
        )
        changes = [
            LineChange(each.id, {**each.to_change().values, **await self._chosen_take(at, each)})
            for at, each in enumerate(patch.changes)
        ]
        try:
            edits = apply_changes(dub.lines, dub.state.edits, changes)
        except InvalidChangeError as error:
            raise invalid_field(error.field, error.message) from error
        speakers = {each.id: each.source.speaker for each in dub.lines}
        for at, each in enumerate(changes):
            field = f"changes.{at}.pronunciation"
            await self.require_phonetic_voice(dub, speakers[each.id], edits[each.id], field=field)
        revision = await save_edits(self.connection, self.key, edits)
        lines = dub.compared.lines_with(edits)
        fits, changed = dub.fits(lines), {each.id for each in changes}
        return DubSegmentsChange(
            revision=revision,
            segments=[described(each, dub.published, fits.get(each.id)) for each in lines if each.id in changed],
            regeneration=self._quote(dub, lines, revision=revision),
        )

    async def _chosen_take(self, at: int, change: DubSegmentChange) -> dict[str, ChosenTake]:
        """The take that a change names, by the field of the edits."""
        if change.take is None:
            return {}
        take = await LinePreviews(self, change.id).choose(change.take)
        if take is None:
            raise invalid_field(f"changes.{at}.take", "There is no such take of this line, or it has expired.")
        return {"take": take}

    async def quote(self, request: DubRegenerationRequest) -> LineRegenerationQuote:
        """The price of a regeneration, by the same rules that charge it."""
        dub = await self.open(revision=request.revision, transcript_revision=request.transcript_revision, lock=False)
        return self._quote(dub, self._chosen(dub, request.segment_ids))

    async def regenerate(self, request: DubRegenerationRequest) -> LineRegeneration:
        """Hold the price of the stale lines, and start the job that makes them again."""
        await keep_video(self.connection, self.principal.library_id, self.video_id)  # videos are locked first
        dub = await self.open(revision=request.revision, transcript_revision=request.transcript_revision)
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
            running = await self._start(key, dub, chosen, found.item, estimated_seconds=found.estimated_seconds)
        return LineRegeneration(
            video_id=self.video_id,
            language=self.language,
            product=self.product.value,
            job=running,
            quote=self._quote(dub, chosen),
            balance=to_credits(await get_balance(self.connection, self.principal.library_id)),
        )

    async def _start(
        self, key: JobKey, dub: OpenDub, chosen: Sequence[LineState], item: BillableItem, *, estimated_seconds: float
    ) -> LineRegenerationJob:
        plan = {
            "dubbed_video_id": self.video_id,
            "language": self.language,
            "product": self.product.value,
            "revision": dub.state.revision,
            "transcript_revision": dub.transcript_revision,
            "lines": [each.id for each in chosen],
            "estimated_seconds": estimated_seconds,  # later estimates are corrected by how long it took
        }
        charge = Charge((item,), is_subscriber=is_subscriber(self.principal))
        new_job = NewJob(key, None, plan=plan, charge=charge)
        await create_jobs(self.connection, self.principal, [new_job], prices=self.prices, now=self.now)
        await save_redub(self.connection, self.key, key.id)
        job = await self._job(key.id)
        assert job is not None
        return job

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
            **({"captions": self._captions(chosen)} if dub.published.options.uses_captions else {}),
            "base": dub.state.generation,
            "lines": [each.id for each in chosen],
        }
        return "0" + fingerprint(inputs)[:25]  # has the form of an id

    def _texts(self, dub: OpenDub) -> str:
        """A digest of what the optimized script says, which has revisions of its own."""
        return fingerprint({"texts": [[each.id, each.text] for each in dub.document.kept]})

    def _captions(self, chosen: Sequence[LineState]) -> str:
        """A digest of what the captions say of the chosen lines."""
        said = [each.desired.caption if each.desired is not None else None for each in chosen]
        return fingerprint({"captions": said})

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
            estimated_seconds=round(found.estimated_seconds * dub.slowness, 1),
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
