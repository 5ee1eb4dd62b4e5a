"""Request and response bodies of captions."""

from typing import Annotated

from pydantic import ConfigDict, Field

from cutroom.credits.schemas import AcceptDraft
from cutroom.jobs.schemas import Job
from cutroom.web.schema import MAX_LANGUAGES, ApiModel, LanguageCode, LineItemIds, Omittable, PricedRequest, Unique


class NewCaptions(PricedRequest):
    """Languages to translate the transcript into."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"languages": ["pt-BR"]}]})

    languages: Annotated[list[LanguageCode], Field(max_length=MAX_LANGUAGES), Unique()]
    reservation_id: Annotated[Omittable[str], Field(description="The credit reservation to charge.")] = None
    reservation_line_item_id_by_language: LineItemIds = Field(default_factory=dict)
    accept_draft: AcceptDraft = False


class CaptionJobs(ApiModel):
    """One job per language."""

    jobs: list[Job]
