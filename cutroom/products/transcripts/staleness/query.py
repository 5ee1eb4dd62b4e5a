"""What products need to find out what of a video is stale: its transcript now, and when they were made."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import BillableItem, PriceList, price, to_credits
from cutroom.credits.service import is_subscriber
from cutroom.errors import Code, CutroomError
from cutroom.library.schemas import Video
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.document import TranscriptDocument
from cutroom.products.transcripts.editing.revisions import FIRST, TranscriptState, read_document, revision_at
from cutroom.products.transcripts.staleness.changes import (
    ChangedSpan,
    SourceChange,
    changed_spans,
    changes_within,
)

TRANSCRIPT_REVISION = "transcriptRevision"  # key of a job result
WORDS_CHANGED = frozenset({SourceChange.SOURCE_CHANGED, SourceChange.ADDED, SourceChange.REMOVED})


@dataclass(frozen=True, slots=True)
class StaleQuery:
    """A caller who asks now what of a video is stale."""

    connection: Connection
    principal: Principal
    storage: Storage
    prices: PriceList
    now: datetime
    video: Video
    state: TranscriptState
    document: TranscriptDocument
    _changes: dict[int, Sequence[ChangedSpan] | None] = field(default_factory=dict)

    @property
    def library_id(self) -> str:
        return self.principal.library_id

    @property
    def is_edited(self) -> bool:
        """Whether anything that is compared with the transcript can be stale."""
        return self.state.revision > FIRST

    async def changes_since(self, revision: int) -> Sequence[ChangedSpan] | None:
        """What has changed in the transcript since a revision; None if that one is not kept any more."""
        if revision not in self._changes:
            self._changes[revision] = await self._compare(revision)
        return self._changes[revision]

    async def _compare(self, revision: int) -> Sequence[ChangedSpan] | None:
        if revision == self.state.revision:
            return ()
        try:
            before = await read_document(self.connection, self.library_id, self.video.id, self.state, revision)
        except CutroomError as error:
            if error.code != Code.NOT_FOUND:
                raise
            return None
        return changed_spans(before, self.document)

    async def reasons_since(
        self,
        revision: int,
        *,
        among: Collection[SourceChange] = frozenset(SourceChange),
        ranges: Iterable[tuple[float, float]] | None = None,
    ) -> tuple[SourceChange, ...]:
        """The kinds of changes since a revision, in some ranges of the recording; empty if there are none."""
        spans = await self.changes_since(revision)
        if spans is None:
            return (SourceChange.SOURCE_CHANGED,)
        return changes_within((each for each in spans if each.change in among), ranges)

    async def revision_of(self, result: Mapping[str, Any] | None, started_at: datetime) -> int:
        """The revision that a job was made from: what its result says, or the one that was current at its start."""
        recorded = (result or {}).get(TRANSCRIPT_REVISION)
        if recorded is not None:
            return min(int(recorded), self.state.revision)
        return await revision_at(self.connection, self.library_id, self.video.id, started_at)

    def credits_of(self, items: Sequence[BillableItem]) -> float:
        """What work without a length costs this caller."""
        is_paying = is_subscriber(self.principal)
        prices = (
            price(item, prices=self.prices, duration_milliseconds=None, is_subscriber=is_paying) for item in items
        )
        return to_credits(sum(prices))
