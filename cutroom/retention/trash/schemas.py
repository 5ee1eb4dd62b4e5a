"""Response bodies of the trash."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from cutroom.web.schema import ApiModel, Omittable


class TrashedVideo(ApiModel):
    """A video in the trash."""

    id: Annotated[str, Field(description="The video's id.")]
    title: Annotated[Omittable[str], Field(description="The video's title.")] = None
    duration: Annotated[Omittable[float], Field(description="Duration in seconds.")] = None
    media_type: Annotated[
        Omittable[Literal["video", "audio"]], Field(description="Whether the file is a video or only audio.")
    ] = None
    deleted_at: Annotated[datetime, Field(description="When the video was deleted.")]
    purge_at: Annotated[datetime, Field(description="When the video is removed for good, unless it is restored.")]


class TrashPage(ApiModel):
    """A page of the trash."""

    videos: list[TrashedVideo]
    next_page_token: Annotated[
        Omittable[str], Field(description="Pass it as `pageToken` to get the next page. Absent on the last page.")
    ] = None
