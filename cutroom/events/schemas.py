"""API schemas of the event log."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from cutroom.events.rules import EventType
from cutroom.web.schema import ApiModel

_CURSOR = "AAAAAAAAACoQFfXpCVc"
_EVENT: dict[str, Any] = {
    "id": "01m7eeq85c1mss7w7v7hzzqy3t",
    "type": "job.ready",
    "timestamp": "2026-11-15T01:56:32.044639Z",
    "data": {
        "id": "import_01m7eeq2mcwc2d1xkwh8e0ww9f",
        "type": "import",
        "status": "ready",
        "videoId": "01m7eeq2mcwc2d1xkwh8e0ww9f",
    },
}


class LibraryEvent(ApiModel):
    """An event of the library's log."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EVENT]})

    id: Annotated[str, Field(description="The `webhook-id` of its deliveries.")]
    type: EventType
    timestamp: Annotated[datetime, Field(description="When it happened.")]
    data: Annotated[
        dict[str, Any],
        Field(
            description="The Video or Job as it was, without signed URLs; for `credits.low`, the balance, and for "
            "`transcript.edited` and `captions.edited`, the video and the revision. For `dub.regenerated` and "
            "`dub.regeneration_failed`, the dub, the lines and the error."
        ),
    ]


class EventPage(ApiModel):
    """Events in the order in which they were recorded."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"events": [_EVENT], "cursor": _CURSOR, "hasMore": False}]}
    )

    events: list[LibraryEvent]
    cursor: Annotated[str, Field(description="Where the next page begins: pass it as `after`. Store it.")]
    has_more: Annotated[bool, Field(description="Whether the next page has events already.")]
