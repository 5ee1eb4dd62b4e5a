"""API schema of an erasure."""

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from cutroom.web.schema import ApiModel, Uri

_ID = "01j9z3k4m5n6p7q8r9s0t1v2w3"


class Erasure(ApiModel):
    """A requested erasure. Keep the URL: no key or session of the library works any more."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "erasureId": _ID,
                    "libraryId": _ID,
                    "status": "erasing",
                    "requestedAt": "2026-01-31T12:00:00Z",
                    "certificateUrl": f"https://cutroom.example.com/erasures/ecert_{_ID}",
                }
            ]
        }
    )

    erasure_id: str = Field(description="The erasure's id, which is also on the certificate.")
    library_id: str = Field(description="The library that is being erased.")
    status: Literal["erasing"]
    requested_at: datetime
    certificate_url: Uri = Field(
        description="Needs no key and does not expire. Returns the status and, once finished, the signed certificate."
    )
