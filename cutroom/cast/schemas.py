"""API schemas of the cast."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, ValidatorFunctionWrapHandler, WrapValidator

from cutroom.cast.rules import MAX_FOLDERS, MAX_NAME, MAX_VOICE_ID, MAX_VOICES, name_error
from cutroom.web.schema import ApiModel, LanguageCode, Omittable, PatchRequest, RequestModel

_VOICE = "a1B2c3D4e5F6g7H8i9J0"
_EXAMPLE: dict[str, Any] = {"name": "Ana Duarte"}
_ID, _VIDEO = "01j9z3k4m5n6p7q8r9s0t1v2w3", "01j9z3k4m5n6p7q8r9s0t1v2w4"
_TIME = "2026-11-02T09:30:00Z"


def _check_name(text: str) -> str:
    if problem := name_error(text):
        raise ValueError(problem)
    return text


def _distinct_tags(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:  # noqa: ANN401 (any JSON value)
    found = validate(value)
    if len(found) != len(value):
        raise ValueError("Languages must be unique.")
    return found


MemberName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME), AfterValidator(_check_name)
]
VoiceId = Annotated[str, Field(min_length=1, max_length=MAX_VOICE_ID)]
Voices = Annotated[dict[LanguageCode, VoiceId], Field(max_length=MAX_VOICES), WrapValidator(_distinct_tags)]
ScopeFolderId = Annotated[str, Field(min_length=1, max_length=128)]

_NAME = "What recognized speakers are called in new transcripts."
_FOLDER = "Where the member is recognized: in this folder and the folders inside it. Everywhere if it is absent."
_VOICES = (
    "By language, the voice that speaks for the member in dubs: the id of a stock voice, or of a clone, which premium "
    "dubs use."
)


class NewCastMember(RequestModel):
    """A person to add to the cast."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    name: Annotated[MemberName, Field(description=_NAME)]
    folder_id: Annotated[Omittable[ScopeFolderId], Field(description=_FOLDER)] = None
    voices: Annotated[Voices, Field(description=_VOICES)] = Field(default_factory=dict)


class CastMemberPatch(PatchRequest):
    """Changes to a member of the cast."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Ana Maria Duarte"}]})

    name: Annotated[MemberName, Field(description=_NAME)] = ""
    folder_id: Annotated[ScopeFolderId | None, Field(description=_FOLDER)] = None
    voices: Annotated[Voices, Field(description=f"{_VOICES} Replaces all.")] = Field(default_factory=dict)


class CastMember(ApiModel):
    """A person who speaks in videos of the library."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"id": _ID, **_EXAMPLE, "voices": {"pt": _VOICE}, "speakerEmbeddings": 3, "createdAt": _TIME}]
        }
    )

    id: str
    name: str = Field(description=_NAME)
    folder_id: Annotated[Omittable[str], Field(description=_FOLDER)] = None
    voices: dict[str, str] = Field(description=_VOICES)
    speaker_embeddings: int = Field(
        description="How many voice prints of this person are stored. Without any, the member is not recognized."
    )
    created_at: datetime


class CastMemberPage(ApiModel):
    """Members of the cast, newest first."""

    members: list[CastMember]
    next_page_token: Annotated[
        Omittable[str], Field(description="Pass it as `pageToken` for the next page; omitted on the last page.")
    ] = None


class CastAppearance(ApiModel):
    """A speaker of a video who is a member of the cast."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "videoId": _VIDEO,
                    "speakerId": "speaker_1",
                    "source": "confirmed",
                    "embeddingStatus": "ready",
                    "createdAt": _TIME,
                }
            ]
        }
    )

    video_id: str
    speaker_id: str
    source: Literal["confirmed", "recognized"] = Field(
        description="Whether it was set by a person, or recognized by the voice. Only the former have voice prints."
    )
    similarity: Annotated[
        Omittable[float], Field(description="How similar the voice was to a voice print, at most 1, if recognized.")
    ] = None
    embedding_status: Literal["none", "pending", "ready", "failed"] = Field(
        description="The state of the voice print made from this speaker. There is none where speakers are not "
        "recognized."
    )
    failure: Annotated[
        Omittable[Literal["too_little_speech", "no_audio", "no_embedder", "unusable"]],
        Field(description="Why the voice print could not be made."),
    ] = None
    created_at: datetime


class CastAppearancePage(ApiModel):
    """Speakers of videos who are this member, newest first."""

    appearances: list[CastAppearance]
    next_page_token: Annotated[
        Omittable[str], Field(description="Pass it as `pageToken` for the next page; omitted on the last page.")
    ] = None


class CastRecognition(RequestModel):
    """Where speakers are recognized by their voices, which are biometric data: nowhere unless it is set."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"recognizeSpeakers": True}]})

    recognize_speakers: bool = Field(description="In all videos of the library.")
    folder_ids: Annotated[
        list[ScopeFolderId],
        Field(max_length=MAX_FOLDERS, description="In videos of these folders and of the folders inside them."),
    ] = Field(default_factory=list)


class CastRecognitionState(ApiModel):
    """Where speakers are recognized by their voices."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"recognizeSpeakers": False, "folderIds": [_ID]}]})

    recognize_speakers: bool = Field(description="In all videos of the library.")
    folder_ids: list[str] = Field(description="In videos of these folders and of the folders inside them.")


class NewCastRecognitionRun(RequestModel):
    """Which existing transcripts to compare with the cast."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})

    folder_id: Annotated[
        Omittable[ScopeFolderId],
        Field(description="Compares videos of this folder and of the folders inside it; all videos if it is absent."),
    ] = None


class CastRecognitionRun(ApiModel):
    """A comparison of existing transcripts with the cast, and how far it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": _ID,
                    "status": "running",
                    "videosCompared": 12,
                    "videosFailed": 0,
                    "speakersRecognized": 9,
                    "createdAt": _TIME,
                }
            ]
        }
    )

    id: str
    status: Literal["running", "finished"]
    folder_id: Annotated[Omittable[str], Field(description="Whose videos are compared; all if it is absent.")] = None
    videos_compared: Annotated[int, Field(description="Videos in which all speakers were compared.")]
    videos_failed: Annotated[int, Field(description="Videos whose speakers could not be compared.")]
    speakers_recognized: Annotated[int, Field(description="Speakers who were given the name of a member.")]
    created_at: datetime
    finished_at: Omittable[datetime] = None
