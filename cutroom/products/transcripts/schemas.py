"""Response bodies of transcripts and subtitles."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from cutroom.engines.translation.port import Quality
from cutroom.web.schema import ApiModel, LanguageCode, Omittable, Uri


class Segment(ApiModel):
    """At most one sentence of one speaker; times are in seconds."""

    start: float
    end: float
    speaker: str
    text: str
    deleted: Annotated[bool, Field(description="Excluded from playback and subtitles.")]


class Speaker(ApiModel):
    """A speaker of the transcript."""

    id: str
    label: str


class TranscriptSpeaker(Speaker):
    """A speaker of the transcript."""

    cast_member_id: Annotated[
        Omittable[str], Field(description="The member of the cast who this is, if it was recognized or confirmed.")
    ] = None


class Transcript(ApiModel):
    """A transcript, or its state if `status` is not `ready`."""

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
    language: Annotated[Omittable[LanguageCode], Field(description="The detected language.")] = None
    segments: Omittable[list[Segment]] = None
    speakers: Omittable[list[TranscriptSpeaker]] = None
    word_alignment_url: Annotated[
        Uri | None, Field(description="A temporary URL of a JSON file with the timing of every word.")
    ]
    word_alignment_storage_path: str | None
    processing_status: Annotated[Omittable[str], Field(description="The current stage, while it is processing.")] = None


class Subtitles(ApiModel):
    """A subtitle file, or its processing status."""

    status: Literal["ready", "processing"]
    video_id: str
    language: Omittable[LanguageCode] = None
    format: Omittable[Literal["srt", "vtt", "ttml", "text"]] = None
    quality: Annotated[
        Omittable[Quality], Field(description="The class of the translation; omitted for the language of the video.")
    ] = None
    download_url: Annotated[
        Omittable[Uri], Field(description="A URL of the file, valid for one hour, saved as `title-language.srt`.")
    ] = None
