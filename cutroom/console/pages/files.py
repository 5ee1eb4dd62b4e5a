"""Files of a video: subtitles, videos in one language, and texts to download."""

from collections.abc import Mapping

from starlette.responses import PlainTextResponse, Response, StreamingResponse

from cutroom.console.framework.page_context import PageContext, page
from cutroom.errors import CutroomError, not_found
from cutroom.jobs.ids import JobType, parse_job_id
from cutroom.jobs.schemas import Job
from cutroom.jobs.states import JobState
from cutroom.platform.storage.disposition import content_disposition
from cutroom.platform.storage.links import saved_name
from cutroom.products.downloads import routes as downloads
from cutroom.products.downloads.rules import Artifact
from cutroom.products.packaging import routes as packaging
from cutroom.products.transcripts import routes as transcripts
from cutroom.products.transcripts.service import SubtitleFormat, subtitle_path
from cutroom.text.file_names import file_name
from cutroom.text.language_tags import canonical_language, is_language

# By extension, as the files are named.
_SUBTITLE_TYPES: Mapping[str, tuple[SubtitleFormat, str]] = {
    "srt": ("srt", "application/x-subrip"),
    "vtt": ("vtt", "text/vtt"),
    "ttml": ("ttml", "application/ttml+xml"),
    "txt": ("text", "text/plain"),
}


async def load_language_videos(context: PageContext, jobs: list[Job]) -> dict[str, str]:
    """URLs of the newest prepared video of each language."""
    made: dict[str, str] = {}
    for job in jobs:
        result = job.result or {}
        if job.type is not JobType.DOWNLOAD or job.status is not JobState.READY or result["language"] in made:
            continue
        key = parse_job_id(job.id)
        if key is None or result["artifact"] != Artifact.LANGUAGE_VIDEO:
            continue
        try:
            url = (await context.call_operation(downloads.get_download, key.subject)).url
        except CutroomError:  # viewers can see the job but not download the file
            continue
        if url is not None:
            made[result["language"]] = url
    return made


async def show_subtitles(context: PageContext) -> Response:
    """Serves subtitles from our origin, because browsers load text tracks from the same origin only."""
    params = context.request.path_params
    video_id, code = params["video_id"], params["language"]
    if not is_language(code) or params["format"] not in _SUBTITLE_TYPES:
        raise not_found()
    format_, media_type = _SUBTITLE_TYPES[params["format"]]
    found = await context.call_operation(transcripts.get_subtitles, video_id, code, format_)
    if found.download_url is None:
        raise not_found()
    path = subtitle_path(
        context.me.principal.library_id, video_id, language=found.language or canonical_language(code), format_=format_
    )
    headers = {"Content-Disposition": content_disposition(saved_name(found.download_url))}
    return StreamingResponse(context.runtime.storage.read(path), media_type=media_type, headers=headers)


async def download_text(context: PageContext) -> Response:
    """Sends the title or description as a text file."""
    kind = context.request.path_params["kind"]
    state = await context.call_operation(packaging.get_packaging, context.request.path_params["video_id"])
    text = {"title": state.title, "description": state.description}.get(kind)
    if not text:
        raise not_found()
    name = file_name(state.title, kind, extension="txt")
    return PlainTextResponse(f"{text}\n", headers={"Content-Disposition": content_disposition(name)})


ROUTES = [
    page("/videos/{video_id}/subtitles/{language}.{format}", show_subtitles),
    page("/videos/{video_id}/{kind}.txt", download_text),
]
