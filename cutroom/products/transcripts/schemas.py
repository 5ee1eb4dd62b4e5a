"""Transcripts and subtitles on the wire."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from cutroom.web.schema import ApiModel, LanguageCode, Omittable, Uri


class Segment(ApiModel):
    """What one speaker says, at most a sentence; times are seconds."""

    start: float
    end: float
    speaker: str
    text: str
    deleted: Annotated[bool, Field(description="Left out of playback and subtitles.")]


class Speaker(ApiModel):
    """Somebody who speaks."""

    id: str
    label: str


class Transcript(ApiModel):
    """What was said, as far as it has come: look at `status`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "status": "ready",
                    "userVideoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "language": "en",
                    "segments": [
                        {"start": 0.4, "end": 2.9, "speaker": "speaker_1", "text": "Shall we begin?", "deleted": False}
                    ],
                    "speakers": [{"id": "speaker_1", "label": "Speaker 1"}],
                    "wordAlignmentUrl": "https://store.example/words.json",
                    "wordAlignmentStoragePath": "libraries/01/videos/01/words.json",
                }
            ]
        }
    )

    status: Literal["not_found", "processing", "ready", "failed"]
    user_video_id: str
    language: Annotated[Omittable[LanguageCode], Field(description="As it was recognised.")] = None
    segments: Omittable[list[Segment]] = None
    speakers: Omittable[list[Speaker]] = None
    word_alignment_url: Annotated[
        Uri | None, Field(description="Every word with its times, as a file; the URL is temporary.")
    ]
    word_alignment_storage_path: str | None
    processing_status: Annotated[Omittable[str], Field(description="What it is doing, while it is processing.")] = None


class Subtitles(ApiModel):
    """A subtitle file, or that it is still being made."""

    status: Literal["ready", "processing"]
    video_id: str
    language: Omittable[LanguageCode] = None
    format: Omittable[Literal["srt", "vtt"]] = None
    download_url: Annotated[Omittable[Uri], Field(description="Where the file is, for an hour.")] = None
