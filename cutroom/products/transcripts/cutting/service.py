"""Makes edit lists of transcripts, and suggests cuts."""

import asyncio
from dataclasses import dataclass
from functools import partial

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.library.service import get_duration, get_video
from cutroom.media.cutting.timeline import FrameSpan
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.alignment import attach_words, read_words
from cutroom.products.transcripts.cutting.edit_list import EditList, make_edit_list
from cutroom.products.transcripts.cutting.editor_files import (
    FRAME_RATES,
    EditorFormat,
    TooManyCutsError,
    write_edit_list,
)
from cutroom.products.transcripts.cutting.schemas import (
    CutSuggestions,
    EditorFile,
    FrameRateName,
    SuggestedCut,
    TimeRange,
    TranscriptEditList,
)
from cutroom.products.transcripts.cutting.suggestions import suggest_cuts
from cutroom.products.transcripts.editing.revisions import TranscriptState, read_document
from cutroom.products.transcripts.editing.service import require_state
from cutroom.products.transcripts.service import load_transcript
from cutroom.text.file_names import file_name

MAX_SUGGESTIONS = 2_000


@dataclass(frozen=True, slots=True)
class CutOptions:
    """How an edit list is made."""

    frame_rate: FrameRateName
    max_silence_seconds: float | None
    format: EditorFormat | None


async def get_edit_list(
    connection: Connection, principal: Principal, storage: Storage, video_id: str, options: CutOptions
) -> TranscriptEditList:
    """The edit list of the current revision."""
    video = await get_video(connection, principal, video_id)
    state = await require_state(connection, principal, video_id)
    duration = await get_duration(connection, principal.library_id, video_id)
    if duration is None:
        raise CutroomError(Code.FAILED_PRECONDITION, message="The duration is not known.", details={"reason": "video"})
    stored = await load_transcript(connection, principal.library_id, video_id)
    data = None
    if await storage.size(stored.alignment_path) is not None:
        data = b"".join([chunk async for chunk in storage.read(stored.alignment_path)])
    make = partial(
        make_edit_list,
        duration_seconds=duration,
        frame_rate=FRAME_RATES[options.frame_rate],
        max_silence_seconds=options.max_silence_seconds,
    )
    edit_list = await asyncio.to_thread(lambda: make(attach_words(stored.segments, read_words(data) if data else ())))
    file = None
    if options.format is not None:
        title = video.title or video_id
        has_video = video.media_type != "audio"
        file = await asyncio.to_thread(_write, edit_list, options.format, title=title, has_video=has_video)
    return TranscriptEditList(
        video_id=video_id,
        revision=state.revision,
        frame_rate=options.frame_rate,
        duration=edit_list.seconds(edit_list.total_frames),
        kept_duration=edit_list.seconds(sum(each.frames for each in edit_list.kept)),
        kept=[_range(edit_list, each) for each in edit_list.kept],
        cuts=[_range(edit_list, each) for each in edit_list.cuts],
        file=file,
    )


def _write(edit_list: EditList, format_: EditorFormat, *, title: str, has_video: bool) -> EditorFile:
    media = file_name(title, extension="mp4" if has_video else "m4a")
    try:
        content = write_edit_list(edit_list, format_, title=title, file_name=media, has_video=has_video)
    except TooManyCutsError as error:
        raise invalid_field("format", str(error)) from error
    return EditorFile(format=format_, name=file_name(title, extension=format_.value), content=content)


def _range(edit_list: EditList, frames: FrameSpan) -> TimeRange:
    return TimeRange(start=edit_list.seconds(frames.start), end=edit_list.seconds(frames.end))


async def get_suggestions(connection: Connection, principal: Principal, video_id: str) -> CutSuggestions:
    """Hesitations and repeated words in the current revision."""
    state: TranscriptState = await require_state(connection, principal, video_id)
    document = await read_document(connection, principal.library_id, video_id, state)
    found = await asyncio.to_thread(suggest_cuts, document.segments, language=state.language)
    return CutSuggestions(
        video_id=video_id,
        revision=state.revision,
        suggestions=[
            SuggestedCut(kind=each.kind, id=each.segment_id, from_=each.start, to=each.end, text=each.text)
            for each in found[:MAX_SUGGESTIONS]
        ],
        total_suggestions=len(found),
    )
