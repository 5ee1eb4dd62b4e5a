"""Dubs on the wire."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from cutroom.jobs.ids import DubProduct
from cutroom.jobs.schemas import Job
from cutroom.products.transcripts.schemas import Segment, Speaker
from cutroom.web.schema import MAX_LANGUAGES, ApiModel, LanguageCode, Languages, Omittable, Uri


class NewDubs(ApiModel):
    """Languages to dub a video into."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"languages": ["pt"], "product": "plus"}]})

    languages: Languages
    product: Annotated[DubProduct, Field(description="`plus`: voices of the service; `premium`: clones.")] = (
        DubProduct.PLUS
    )
    source_voiceover: Annotated[Literal["original", "optimized"], Field(description="Which transcript is spoken.")] = (
        "original"
    )
    reservation_id: Annotated[Omittable[str], Field(description="A reservation that pays.")] = None
    reservation_line_item_id_by_language: Annotated[
        dict[LanguageCode, str],
        Field(max_length=MAX_LANGUAGES, description="The line item that pays for each language."),
    ] = Field(default_factory=dict)


class DubJobs(ApiModel):
    """One job for each language, and what is left in the wallet."""

    video_id: str
    jobs: list[Job]
    balance: float


class DubItem(ApiModel):
    """A dub in the list of a video's dubs."""

    id: str
    language: str
    product: str
    status: str
    completion: Omittable[str] = None
    job_id: str


class Dubs(ApiModel):
    """A video's dubs."""

    dubs: list[DubItem]


class Dub(ApiModel):
    """A dub in its present state. While it is made, the first minute may be there to listen to."""

    status: Literal["processing", "ready", "failed"]
    user_video_id: str
    language_code: LanguageCode
    dubbing_request_id: str
    dubbing_status: str
    completion_status: Omittable[str] = None
    audio_url: Annotated[Uri | None, Field(description="A temporary URL of the sound.")]
    audio_track_id: str | None
    segments: Omittable[list[Segment]] = None
    speakers: Omittable[list[Speaker]] = None
    sync: Annotated[
        Omittable[dict[str, Any]], Field(description="How the lines fit their times; the weakest come first.")
    ] = None
    job_id: str
