"""API schemas of capabilities."""

from typing import Annotated

from pydantic import Field

from cutroom.engines.translation.port import Quality
from cutroom.web.schema import ApiModel, LanguageCode, Omittable


class LanguageCapability(ApiModel):
    """What can be done with a language."""

    code: LanguageCode
    name: Annotated[str, Field(description="The English name.")]
    source: Annotated[bool, Field(description="Whether videos in this language can be translated.")]
    captions: Annotated[bool, Field(description="Whether captions can be translated into it from some language.")]
    dubs: Annotated[bool, Field(description="Whether dubs can be made in it from some language.")]
    speech: Annotated[bool, Field(description="Whether a stock voice speaks it.")]


class PairCapability(ApiModel):
    """A translation that can be requested."""

    source: LanguageCode
    target: LanguageCode
    quality: Annotated[
        Quality, Field(description="`publishable`, `review` (check before publishing) or `draft`, as measured.")
    ]
    dubs: Annotated[bool, Field(description="Whether dubs can be made, as well as captions.")]


class VoiceCapability(ApiModel):
    """A stock voice."""

    id: str
    name: str
    language: str
    gender: str
    age: str


class ModelCapability(ApiModel):
    """A model that requests can name."""

    id: str
    product: str


class ProductCapability(ApiModel):
    """A product, and whether the caller's library can use it now."""

    name: str
    enabled: bool
    reason: Annotated[
        Omittable[str],
        Field(description="Why it is not enabled: `plan_required`, `no_provider`, `no_languages`, `no_voices`, …"),
    ] = None
    limits: Annotated[dict[str, float], Field(description="Bounds on requests, by name.")]


class LimitCapability(ApiModel):
    """Limits of the plan, which apply to each API key, and of every request."""

    requests_per_minute: int
    concurrent_requests: int
    unfinished_jobs: int
    body_bytes: Annotated[int, Field(description="Of a JSON body.")]
    languages: Annotated[int, Field(description="In one request.")]
    page_items: Annotated[int, Field(description="On one page of a list.")]


class Capabilities(ApiModel):
    """What this installation can do now for the caller's library."""

    languages: list[LanguageCapability]
    pairs: list[PairCapability]
    voices: list[VoiceCapability]
    models: list[ModelCapability]
    limits: LimitCapability
    refuses_drafts: Annotated[
        bool, Field(description="Whether translations of `draft` quality need `acceptDraft` in this library.")
    ]
    products: list[ProductCapability]
