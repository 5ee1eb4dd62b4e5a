"""The speakers of one video: who of them is which member of the cast."""

from starlette.responses import Response

from cutroom.cast import routes as cast
from cutroom.console.framework.page_context import PageContext, page, redirect
from cutroom.library import routes as library
from cutroom.products.transcripts import routes as transcripts
from cutroom.products.transcripts.speaker_recognition import routes as speakers
from cutroom.web.paging import MAX_PAGE

EXCERPT_SEGMENTS = 2  # of each speaker, by which people recognize them


async def show_speakers(context: PageContext) -> Response:
    video_id = context.request.path_params["video_id"]
    video = await context.call_operation(library.get_video, video_id)
    transcript = await context.call_operation(transcripts.get_transcript, video_id)
    excerpts: dict[str, list[str]] = {}
    for segment in transcript.segments or []:
        said = excerpts.setdefault(segment.speaker, [])
        if not segment.deleted and len(said) < EXCERPT_SEGMENTS:
            said.append(segment.text)
    members = (await context.call_operation(cast.list_cast_members, limit=MAX_PAGE)).members
    return context.page(
        "cast/speakers.html",
        video=video,
        speakers=transcript.speakers or [],
        excerpts=excerpts,
        members=sorted(members, key=lambda each: each.name.casefold()),
        names={each.id: each.name for each in members},
        may_write=context.me.principal.may_write,
    )


async def set_speaker(context: PageContext) -> Response:
    """Says that a speaker is a member, or is not the one that it was."""
    video_id, form = context.request.path_params["video_id"], context.form
    speaker, member_id = form.text("speaker"), form.text("member")
    if member_id:
        await context.call_operation(speakers.create_cast_appearance, member_id, video_id, speaker)
    else:
        await context.call_operation(cast.delete_cast_appearance, form.text("current"), video_id, speaker)
    return redirect(f"/videos/{video_id}/speakers", notice="changed")


ROUTES = [
    page("/videos/{video_id}/speakers", show_speakers),
    page("/videos/{video_id}/speakers", set_speaker, method="POST"),
]
