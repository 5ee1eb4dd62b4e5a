"""Request and response bodies of previews of a line."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from cutroom.products.dubs.editing.changes import MAX_TEXT
from cutroom.products.dubs.editing.schemas import Pronunciation, Speed
from cutroom.products.dubs.editing.takes.line_takes import MAX_TAKES, TakeVariation
from cutroom.web.schema import ApiModel, Omittable, RequestModel, Uri, changes_of


class NewLinePreview(RequestModel):
    """What to speak; a field that is absent is as the line has it now."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Bom dia!", "count": 2}]})

    text: Annotated[Omittable[str], Field(min_length=1, max_length=MAX_TEXT, description="What to say.")] = None
    voice: Annotated[
        Omittable[str],
        Field(min_length=1, max_length=64, description="The id of a stock voice that speaks the language of the dub."),
    ] = None
    speed: Omittable[Speed] = None
    pronunciation: Omittable[Pronunciation] = None
    count: Annotated[int, Field(ge=1, le=MAX_TAKES, description="How many takes to speak.")] = 1

    @property
    def changes(self) -> dict[str, Any]:
        """What is spoken differently from the line, by the names of the fields of `LineEdits`."""
        return {name: each for name, each in changes_of(self).items() if name != "count" and each is not None}


class TakeFit(ApiModel):
    """Whether a take fits its time."""

    available_seconds: float
    excess_seconds: Annotated[float, Field(description="By how much it is too long; 0 if it fits.")]


class PreviewTake(ApiModel):
    """One take of a line."""

    id: Annotated[str, Field(description="Choose the take by sending this id as `take` of the line.")]
    text: Annotated[str, Field(description="The wording that is spoken.")]
    seconds: float
    tempo: Annotated[float, Field(description="How much the speech was sped up to fit its time.")]
    fit: TakeFit
    variation: Annotated[
        TakeVariation,
        Field(
            description="How it differs from the first take: `sampling`, the engine speaks differently each time, or "
            "`pace`, slower or faster. `none` is what a regeneration would speak."
        ),
    ]
    audio_url: Annotated[Uri, Field(description="A WAV file, signed for an hour.")]


class LinePreview(ApiModel):
    """Takes of a line; poll it until its status is `ready` or `failed`."""

    id: str
    segment_id: str
    status: Literal["queued", "processing", "ready", "failed"]
    takes: Annotated[list[PreviewTake], Field(description="Empty until all are ready.")]
    expires_at: Annotated[Omittable[datetime], Field(description="When the takes can no longer be chosen.")] = None
    error: Annotated[Omittable[dict[str, Any]], Field(description="Why it failed.")] = None
