"""Loads what each tab of the video page shows."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cutroom.console.framework.page_context import PageContext
from cutroom.console.framework.timeline import DubTimeline, dub_timeline, speech_spans
from cutroom.console.pages.files import load_language_videos
from cutroom.console.pages.publishing import is_in_review, load_publishing, load_thumbnails
from cutroom.console.pages.video_editing import load_texts
from cutroom.errors import CutroomError
from cutroom.jobs.ids import DubProduct, JobType, parse_job_id
from cutroom.jobs.schemas import Job
from cutroom.jobs.states import JobState
from cutroom.library.schemas import Video
from cutroom.products.declaration import VideoTab
from cutroom.products.dubs import routes as dubs
from cutroom.products.dubs.schemas import Dub, DubItem
from cutroom.products.shorts import routes as shorts
from cutroom.products.shorts.schemas import ShortsItem, ShortsRequest
from cutroom.products.transcripts.schemas import Transcript

MAX_DUBS = 12  # shown with their sync reports
MAX_SHORTS_REQUESTS = 6


@dataclass(frozen=True, slots=True)
class DubView:
    """A dub with its job and its timeline."""

    item: DubItem
    job: Job
    dub: Dub
    timeline: DubTimeline
    is_streamed: bool  # an audio track of the stream, which has one dub per language


@dataclass(frozen=True, slots=True)
class ShortsView:
    """A shorts request with its job, and its outputs unless it failed."""

    item: ShortsItem
    job: Job
    request: ShortsRequest | None


@dataclass(frozen=True, slots=True)
class VideoView:
    """A video with what every tab needs."""

    video: Video
    revision: str  # the video's ETag
    transcript: Transcript
    jobs: list[Job]  # without those whose output was deleted
    history: list[Job]  # all jobs
    dubs: list[DubView]

    @property
    def subtitles(self) -> list[str]:
        """Languages with captions."""
        transcript = self.transcript
        spoken = [transcript.language] if transcript.status == "ready" and transcript.language else []
        made = [job.language for job in self.jobs if _makes_captions(job) and job.status is JobState.READY]
        return [*spoken, *(code for code in made if code)]


def _makes_captions(job: Job) -> bool:
    """Whether a job makes captions, not changes some of their segments."""
    key = parse_job_id(job.id)
    return job.type is JobType.CAPTIONS and key is not None and key.revision is None


async def load_dubs(context: PageContext, video: Video, jobs: list[Job]) -> list[DubView]:
    by_id = {job.id: job for job in jobs}
    listed = [each for each in (await context.call_operation(dubs.list_dubs, video.id)).dubs if each.job_id in by_id]
    found = [
        (each, await context.call_operation(dubs.get_dub, video.id, each.language, DubProduct(each.product)))
        for each in listed[:MAX_DUBS]
    ]
    cloned = {item.language for item, dub in found if item.product == DubProduct.PREMIUM and dub.status == "ready"}
    made = []
    for item, dub in found:
        is_first = item.product == DubProduct.PREMIUM or item.language not in cloned
        is_streamed = is_first and item.language in (video.url_multi or {})
        made.append(DubView(item, by_id[item.job_id], dub, dub_timeline(dub.sync), is_streamed))
    return made


async def _overview(context: PageContext, view: VideoView) -> dict[str, Any]:
    return {
        "speech": speech_spans(view.transcript.segments or []),
        "in_review": await is_in_review(context, view.video.id),
        "current": [job for job in view.jobs if job.status is not JobState.READY],
    }


async def _transcript(_context: PageContext, view: VideoView) -> dict[str, Any]:
    return {
        "labels": {each.id: each.label for each in view.transcript.speakers or []},
        "transcript_job": next((job for job in view.jobs if job.type is JobType.TRANSCRIPT), None),
        "captions": [job for job in view.jobs if job.type is JobType.CAPTIONS and job.status is not JobState.READY],
        "translations": {
            job.language: job.result for job in view.jobs if _makes_captions(job) and job.status is JobState.READY
        },
    }


async def _dubs(context: PageContext, view: VideoView) -> dict[str, Any]:
    return {
        "speech": speech_spans(view.transcript.segments or []),
        "language_videos": await load_language_videos(context, view.jobs),
    }


async def _shorts(context: PageContext, view: VideoView) -> dict[str, Any]:
    by_id = {job.id: job for job in view.jobs}
    listed = (await context.call_operation(shorts.list_shorts, view.video.id)).requests
    made = []
    for item in [each for each in listed if each.job_id in by_id][:MAX_SHORTS_REQUESTS]:
        try:
            request = await context.call_operation(shorts.get_shorts, item.id)
        except CutroomError:  # a failed request answers with the error of its job
            request = None
        made.append(ShortsView(item, by_id[item.job_id], request))
    return {"shorts": made}


async def _thumbnails(context: PageContext, view: VideoView) -> dict[str, Any]:
    return await load_thumbnails(context, view.video.id, view.jobs)


async def _publish(context: PageContext, view: VideoView) -> dict[str, Any]:
    texts = load_texts(context, view.video, view.jobs, revision=view.revision)
    return {**await load_publishing(context, view.video.id, view.jobs), **texts}


async def _activity(_context: PageContext, view: VideoView) -> dict[str, Any]:
    return {"jobs": view.history}


LOADERS: Mapping[VideoTab, Callable[[PageContext, VideoView], Awaitable[dict[str, Any]]]] = {
    VideoTab.OVERVIEW: _overview,
    VideoTab.TRANSCRIPT: _transcript,
    VideoTab.DUBS: _dubs,
    VideoTab.SHORTS: _shorts,
    VideoTab.THUMBNAILS: _thumbnails,
    VideoTab.PUBLISH: _publish,
    VideoTab.ACTIVITY: _activity,
}
