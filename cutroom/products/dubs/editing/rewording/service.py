"""Offers shorter wordings of a line: at once those that are known, and those of a language model when it has answered.

The model is asked by a worker, in a job like those of takes, so that no request waits for it.
"""

import math
from dataclasses import dataclass

import asyncpg

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.jobs.states import JobState
from cutroom.library.trash import keep_video
from cutroom.products.dubs.editing.changes import MAX_TEXT, InvalidChangeError, checked_text
from cutroom.products.dubs.editing.described_lines import described_fit, line_text
from cutroom.products.dubs.editing.open_dub import DubAccess, OpenDub, line_of
from cutroom.products.dubs.editing.rewording.order import ANSWER_TIME, MADE, WordingsOrder, read_made
from cutroom.products.dubs.editing.schemas import LineWording, LineWordings, ModelAnswer, WordingsRequest
from cutroom.products.dubs.editing.takes.line_takes import expires_at
from cutroom.products.dubs.editing.takes.service import ORDER, LinePreviews
from cutroom.products.dubs.editing.text_fit import TextFit
from cutroom.products.dubs.editing.wordings import WordingOrigin, fitting_wordings, shorter_wordings
from cutroom.text.glossary.line_glossary import line_glossary

_UNFINISHED = frozenset({JobState.QUEUED, JobState.PROCESSING})


@dataclass(frozen=True, slots=True)
class LineRewording:
    """Shorter wordings of one line for a caller; `model` is the configured language model, if there is one."""

    access: DubAccess
    line_id: str
    model: str | None

    async def find(self, request: WordingsRequest) -> LineWordings:
        """Shorter wordings of what the line says, or of another text; asks the model if it can be asked."""
        access = self.access
        is_asked = self.model is not None and self._may_ask
        if is_asked:
            await keep_video(access.connection, access.principal.library_id, access.video_id)  # videos are locked first
        dub = await access.open()
        text = self._text(dub, request)
        fit = dub.fits(dub.lines)[self.line_id]
        order = WordingsOrder(self.line_id, text, access.language, _max_characters(fit))
        if not is_asked or self.model is None or order.max_characters < 1:
            return await self._described(dub, text, None)
        wordings_id = order.id(access.key.columns, model=self.model)
        job = await self._job(wordings_id)
        if job is None or job["status"] == JobState.FAILED or self._has_expired(job):
            await self._jobs.start(wordings_id, order.to_json(), rerun=job is not None and self._has_expired(job))
        return await self._described(dub, text, wordings_id)

    async def get(self, wordings_id: str) -> LineWordings:
        """What a request has found; not found once it has expired."""
        dub = await self.access.open()
        line_of(dub, self.line_id)
        job = await self._job(wordings_id)
        if job is None or self._has_expired(job):
            raise not_found()
        order = WordingsOrder.from_json(await self._jobs.read(wordings_id, ORDER))
        if order is None:  # takes have ids of the same form
            raise not_found()
        return await self._described(dub, order.text, wordings_id)

    @property
    def _may_ask(self) -> bool:
        """Whether the caller may start work: as for previews, not viewers and guests."""
        principal = self.access.principal
        return Scope.DUBS_WRITE in principal.scopes and principal.may_write and not principal.is_guest

    @property
    def _jobs(self) -> LinePreviews:
        return LinePreviews(self.access, self.line_id)

    async def _job(self, wordings_id: str) -> asyncpg.Record | None:
        return await self._jobs.find_job(wordings_id)

    def _has_expired(self, job: asyncpg.Record) -> bool:
        return job["status"] == JobState.READY and expires_at(job["finished_at"]) <= self.access.now

    def _text(self, dub: OpenDub, request: WordingsRequest) -> str:
        state = line_of(dub, self.line_id)
        try:
            text = checked_text(request.text, "text", limit=MAX_TEXT) if request.text else line_text(state)
        except InvalidChangeError as error:
            raise invalid_field(error.field, error.message) from error
        if text is None:
            message = "The line has yet to be translated. Send a text."
            raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "untranslated"})
        return text

    async def _described(self, dub: OpenDub, text: str, wordings_id: str | None) -> LineWordings:
        answer, written = await self._answer(wordings_id)
        state, fit = line_of(dub, self.line_id), dub.fits(dub.lines)[self.line_id]
        source = state.source.text
        known = state.published.translation if state.published is not None else ()
        terms = line_glossary(await self.access.glossary(), source, (text, *known))
        found = shorter_wordings(
            text, language=self.access.language, source=source, glossary=terms, known=known, written=written
        )
        # Of each kind, so that those of the model are not hidden by longer ones.
        ours = fitting_wordings([each for each in found if found[each] is not WordingOrigin.MODEL], fit)
        models = fitting_wordings([each for each in found if found[each] is WordingOrigin.MODEL], fit)
        return LineWordings(
            id=wordings_id,
            segment_id=self.line_id,
            text=text,
            seconds=fit.seconds(text),
            fit=described_fit(fit),
            model=answer,
            wordings=[
                LineWording(text=each, seconds=fit.seconds(each), origin=found[each])
                for each in sorted([*ours, *models], key=len, reverse=True)
            ],
        )

    async def _answer(self, wordings_id: str | None) -> tuple[ModelAnswer, list[str]]:
        job = await self._job(wordings_id) if wordings_id is not None else None
        if wordings_id is None or job is None:
            return ModelAnswer.NONE, []
        if job["status"] in _UNFINISHED:
            is_late = job["created_at"] + ANSWER_TIME <= self.access.now
            return ModelAnswer.LATE if is_late else ModelAnswer.PENDING, []
        if job["status"] != JobState.READY or await self._jobs.size(wordings_id, MADE) is None:
            return ModelAnswer.FAILED, []
        return ModelAnswer.READY, read_made(await self._jobs.read(wordings_id, MADE))


def _max_characters(fit: TextFit) -> int:
    return min(MAX_TEXT, math.floor(fit.available_seconds / fit.seconds_per_character))
