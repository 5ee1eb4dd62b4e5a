"""API schemas of review links and comments."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from cutroom.reviews.rules import (
    DEFAULT_DAYS,
    MAX_DAYS,
    MAX_LABEL,
    MAX_SEGMENT_ID,
    MAX_TEXT,
    MAX_TIME_SECONDS,
    MIN_DAYS,
    GuestRole,
)
from cutroom.web.schema import ApiModel, Instant, LanguageCode, Omittable, PatchRequest, RequestModel, Uri

_ID = "01j9z3k4m5n6p7q8r9s0t1v2w3"
_LINK: dict[str, Any] = {
    "id": _ID,
    "videoId": _ID,
    "role": "comment",
    "label": "Ana, Portuguese",
    "createdBy": _ID,
    "createdAt": "2026-11-19T10:20:30Z",
    "expiresAt": "2026-12-03T10:20:30Z",
}
_COMMENT: dict[str, Any] = {
    "id": _ID,
    "videoId": _ID,
    "time": 12.4,
    "segmentId": "s3",
    "language": "pt-BR",
    "text": "The name of the river is wrong.",
    "authorKind": "guest",
    "authorName": "Ana",
    "resolved": False,
    "createdAt": "2026-11-19T10:20:30Z",
}

# Control characters other than line breaks and tabs are refused.
VisibleText = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+$"
CommentText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TEXT, pattern=VisibleText)
]
LinkLabel = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_LABEL, pattern=r"^[^\x00-\x1f]+$")
]
_ROLE = (
    "`view` opens the studio page of the video, `comment` also takes comments, and `edit` also takes corrections of "
    "the transcript, dubs and captions. None of them spends credits."
)
_LABEL = "For people: whom the link is for."
_TIME = "The position in the video, in seconds."
_SEGMENT = "The segment or line that the comment is about."
_LANGUAGE = "The language of the dub or captions that the comment is about. Omitted if it is about the original."


class NewReviewLink(RequestModel):
    """A link to create."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"role": "comment", "expiresInDays": 14, "label": "Ana, Portuguese"}]}
    )

    role: Annotated[GuestRole, Field(description=_ROLE)]
    expires_at: Annotated[
        Omittable[Instant],
        Field(description=f"When the link stops working, {MIN_DAYS} to {MAX_DAYS} days from now."),
    ] = None
    expires_in_days: Annotated[
        Omittable[int],
        Field(
            ge=MIN_DAYS,
            le=MAX_DAYS,
            description=f"Days until the link stops working; {DEFAULT_DAYS} if neither this nor `expiresAt` is sent.",
        ),
    ] = None
    label: Annotated[Omittable[LinkLabel], Field(description=_LABEL)] = None

    @model_validator(mode="after")
    def _require_one_expiry(self) -> Self:
        if self.expires_at is not None and self.expires_in_days is not None:
            raise ValueError("Send either expiresAt or expiresInDays.")
        return self


class ReviewLink(ApiModel):
    """A link that opens the review of a video without an account."""

    model_config = ConfigDict(json_schema_extra={"examples": [_LINK]})

    id: str
    video_id: str
    role: Annotated[GuestRole, Field(description=_ROLE)]
    label: Annotated[Omittable[str], Field(description=_LABEL)] = None
    created_by: Annotated[str, Field(description="The user who created it.")]
    created_at: datetime
    expires_at: Annotated[datetime, Field(description="When it stops working.")]


class CreatedReviewLink(ReviewLink):
    """A link with its URL, which is returned only once."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{**_LINK, "url": "https://cutroom.example.com/review/rev_6dM3bV9sQzLx0c8YwKpJt2HnRfUaEg4i"}]
        }
    )

    url: Annotated[Uri, Field(description="What to send to the reviewer. Everyone who has it can open the review.")]


class ReviewLinks(ApiModel):
    """The active links of a video."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"links": [_LINK]}]})

    links: Annotated[list[ReviewLink], Field(description="Newest first.")]


class NewReviewComment(RequestModel):
    """A comment to add."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"time": 12.4, "segmentId": "s3", "language": "pt-BR", "text": _COMMENT["text"]}]
        }
    )

    time: Annotated[float, Field(ge=0, le=MAX_TIME_SECONDS, allow_inf_nan=False, description=_TIME)]
    text: CommentText
    segment_id: Annotated[
        Omittable[Annotated[str, StringConstraints(pattern=rf"^[0-9A-Za-z_.:-]{{1,{MAX_SEGMENT_ID}}}$")]],
        Field(description=_SEGMENT),
    ] = None
    language: Annotated[Omittable[LanguageCode], Field(description=_LANGUAGE)] = None


class ReviewCommentPatch(PatchRequest):
    """Changes to a comment."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"resolved": True}]})

    text: Annotated[CommentText, Field(description="Only its author can change it.")] = ""
    resolved: Annotated[bool, Field(description="Whether what it says is done.")] = False


class ReviewComment(ApiModel):
    """A comment at a time of a video."""

    model_config = ConfigDict(json_schema_extra={"examples": [_COMMENT]})

    id: str
    video_id: str
    time: Annotated[float, Field(description=_TIME)]
    segment_id: Annotated[Omittable[str], Field(description=_SEGMENT)] = None
    language: Annotated[Omittable[LanguageCode], Field(description=_LANGUAGE)] = None
    text: str
    author_kind: Annotated[
        Literal["person", "key", "guest"],
        Field(description="A member in the web app, an API key, or a guest who opened a review link."),
    ]
    author_name: Annotated[
        Omittable[str], Field(description="The name of the member, or the one that the guest has entered.")
    ] = None
    user_id: Annotated[Omittable[str], Field(description="The author, unless it was a guest.")] = None
    link_id: Annotated[Omittable[str], Field(description="The link that a guest has opened.")] = None
    resolved: Annotated[bool, Field(description="Whether what it says is done.")]
    created_at: datetime


class ReviewCommentPage(ApiModel):
    """Comments, newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"comments": [_COMMENT]}]})

    comments: list[ReviewComment]
    next_page_token: Annotated[
        Omittable[str], Field(description="Pass as `pageToken` for the next page; omitted on the last page.")
    ] = None
