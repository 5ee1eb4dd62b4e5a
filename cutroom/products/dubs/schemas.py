"""Request and response bodies of dubs."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from cutroom.credits.schemas import AcceptDraft, TranslationQuality
from cutroom.glossary.schemas import BrokenTermItem
from cutroom.jobs.ids import DubProduct
from cutroom.jobs.schemas import Job
from cutroom.products.dubs.sources.options import TranslationSource
from cutroom.products.transcripts.schemas import Segment, Speaker
from cutroom.web.schema import ApiModel, LanguageCode, Languages, LineItemIds, Omittable, PricedRequest, Uri


class NewDubs(PricedRequest):
    """Languages to dub a video into."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"languages": ["pt"], "product": "plus"}]})

    languages: Languages
    product: Annotated[DubProduct, Field(description="`plus` uses stock voices; `premium` clones each speaker.")] = (
        DubProduct.PLUS
    )
    source_voiceover: Annotated[Literal["original", "optimized"], Field(description="The transcript to dub.")] = (
        "original"
    )
    translation_source: Annotated[
        TranslationSource,
        Field(
            description="`captions` speaks the texts of the video's captions in these languages, which have to be "
            "finished; only what they lack is translated."
        ),
    ] = TranslationSource.MACHINE
    reservation_id: Annotated[Omittable[str], Field(description="The credit reservation to charge.")] = None
    reservation_line_item_id_by_language: LineItemIds = Field(default_factory=dict)
    accept_draft: AcceptDraft = False


class DubJobs(ApiModel):
    """One job per language, and the remaining credit balance."""

    video_id: str
    jobs: list[Job]
    balance: float


class DubItem(ApiModel):
    """A summary of a dub."""

    id: str
    language: str
    product: str
    status: str
    completion: Omittable[str] = None
    quality: TranslationQuality = None
    job_id: str


class Dubs(ApiModel):
    """A video's dubs."""

    dubs: list[DubItem]


class Dub(ApiModel):
    """A dub in its current state. A preview of the first minute may be available while it is processing."""

    status: Literal["processing", "ready", "failed"]
    user_video_id: str
    language_code: LanguageCode
    dubbing_request_id: str
    dubbing_status: str
    completion_status: Omittable[str] = None
    quality: TranslationQuality = None
    audio_url: Annotated[Uri | None, Field(description="A temporary URL of the audio, saved as `title-language.m4a`.")]
    audio_track_id: str | None
    segments: Omittable[list[Segment]] = None
    speakers: Omittable[list[Speaker]] = None
    sync: Annotated[
        Omittable[dict[str, Any]],
        Field(
            description="How well the lines match the source timing, worst first. `naturalFit` is the share of lines "
            "that are 10 % shorter to 20 % longer than their slot before their tempo is changed. `loudnessOutliers` "
            "lists the lines that are more than 6 dB below the median level of their speaker."
        ),
    ] = None
    broken_terms: Annotated[
        Omittable[list[BrokenTermItem]],
        Field(description="Glossary terms whose translation a line does not have, the first 200."),
    ] = None
    job_id: str
