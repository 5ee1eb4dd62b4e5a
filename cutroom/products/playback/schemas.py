"""Request and response bodies of playback."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from cutroom.web.schema import ApiModel, Omittable, RequestModel


class NewPlaybackCut(RequestModel):
    """Which words the stream leaves out."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"uncut": False}]})

    uncut: Annotated[bool, Field(description="Package the whole recording again.")] = False
    transcript_revision: Annotated[
        Omittable[Annotated[int, Field(ge=1)]],
        Field(description="Refuse with 409 if the transcript has changed since this revision."),
    ] = None


class KeptRange(ApiModel):
    """A part of the recording that the stream plays, in seconds of the recording."""

    start: float
    end: float


class RequestedCut(ApiModel):
    """A cut that is not packaged yet."""

    transcript_revision: int
    uncut: bool


class PlaybackState(ApiModel):
    """The stream of a video: its state, and what it leaves out."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "videoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "status": "ready",
                    "transcriptRevision": 3,
                    "duration": 9.48,
                    "kept": [{"start": 0.0, "end": 2.32}, {"start": 2.84, "end": 10.0}],
                }
            ]
        }
    )

    video_id: str
    status: Literal["none", "processing", "ready", "failed"]
    transcript_revision: Annotated[
        Omittable[int],
        Field(description="The revision whose deleted words the stream leaves out, if any was requested."),
    ] = None
    duration: Annotated[Omittable[float], Field(description="Of the stream, in seconds.")] = None
    kept: Annotated[
        Omittable[list[KeptRange]],
        Field(description="What the stream plays of the recording, in order; absent if that is all of it."),
    ] = None
    requested: Annotated[Omittable[RequestedCut], Field(description="What is packaged next.")] = None
