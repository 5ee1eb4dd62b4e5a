"""Compares a published dub with the transcript, and with the captions whose words it speaks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cutroom.platform.db import Connection
from cutroom.products.dubs.artifacts import DubRef
from cutroom.products.dubs.editing.lines import LineEdits, PublishedDub
from cutroom.products.dubs.editing.staleness import LineState, line_states
from cutroom.products.dubs.sources.loading import dubbed_document, find_translations
from cutroom.products.transcripts.document import TranscriptDocument


@dataclass(frozen=True, slots=True)
class ComparedDub:
    """The lines of a dub, and what they are compared with."""

    published: PublishedDub
    document: TranscriptDocument  # as the dub says it
    captions: Mapping[str, str] = field(default_factory=dict)  # texts by segment, if the dub speaks them
    silent: frozenset[str] = frozenset()  # segments that the dub leaves out
    edits: Mapping[str, LineEdits] = field(default_factory=dict)

    @property
    def lines(self) -> Sequence[LineState]:
        return self.lines_with(self.edits)

    def lines_with(self, edits: Mapping[str, LineEdits]) -> Sequence[LineState]:
        """The lines if a person had set this."""
        return line_states(self.published.lines, self.document, edits, captions=self.captions, silent=self.silent)


async def compare_dub(
    connection: Connection,
    dub: DubRef,
    published: PublishedDub,
    document: TranscriptDocument,
    edits: Mapping[str, LineEdits],
) -> ComparedDub:
    """The published dub beside a revision of the transcript, and the captions of now."""
    spoken = await dubbed_document(connection, dub, published.options, document)
    translations = await find_translations(connection, dub, published.options, spoken)
    silent = frozenset(each.id for each in document.kept) - {each.id for each in spoken.kept}
    return ComparedDub(published, spoken, translations.texts, silent, edits)
