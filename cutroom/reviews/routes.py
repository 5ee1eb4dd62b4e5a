"""Routes of review links and comments."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.reviews import links, service
from cutroom.reviews.schemas import (
    CreatedReviewLink,
    NewReviewComment,
    NewReviewLink,
    ReviewComment,
    ReviewCommentPage,
    ReviewCommentPatch,
    ReviewLinks,
)
from cutroom.reviews.service import CommentAuthor
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.paging import DEFAULT_PAGE, MAX_PAGE
from cutroom.web.revisions import IfMatch

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Reviews"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
LinkId = Annotated[str, Path(alias="linkId", min_length=1, description="The link's id.")]
CommentId = Annotated[str, Path(alias="commentId", min_length=1, description="The comment's id.")]
# Of the audit entry: names, labels and texts of people are in none.
_AUDITED_LINK = {"role", "expires_at"}
_AUDITED_COMMENT = {"time", "language", "resolved"}


@router.get("/videos/{videoId}/review-links", summary="List review links")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def list_review_links(call: CurrentCall, video_id: VideoId) -> ReviewLinks:
    """Returns the links of the video that work now, without their URLs."""
    return ReviewLinks(links=await links.list_links(call.connection, call.principal, video_id, now=call.now))


@router.post("/videos/{videoId}/review-links", status_code=201, summary="Create a review link")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,))
async def create_review_link(call: CurrentCall, video_id: VideoId, body: NewReviewLink) -> CreatedReviewLink:
    """Creates a link for reviewers who have no account. Its URL is returned only once.

    The link opens the studio page of this video and nothing else, until it expires or is revoked, or until the user
    who created it leaves the library. A video has at most 50 active links.
    """
    created = await links.create_link(
        call.connection,
        call.principal,
        video_id,
        body,
        secret_box=call.runtime.secret_box,
        base_url=call.runtime.settings.base_url,
        now=call.now,
    )
    call.record_change(after=created.model_dump(mode="json", by_alias=True, include=_AUDITED_LINK))
    return created


@router.delete("/videos/{videoId}/review-links/{linkId}", status_code=204, summary="Revoke a review link")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE)
async def revoke_review_link(call: CurrentCall, video_id: VideoId, link_id: LinkId) -> None:
    """Revokes a link. Everyone who has opened it loses access at once; their comments stay."""
    await links.revoke_link(call.connection, call.principal, video_id, link_id)


@router.get("/videos/{videoId}/comments", summary="List comments")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def list_review_comments(
    call: CurrentCall,
    video_id: VideoId,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of comments to return.")] = DEFAULT_PAGE,
    page_token: Annotated[
        str | None, Query(alias="pageToken", description="The `nextPageToken` of the previous page.")
    ] = None,
) -> ReviewCommentPage:
    """Returns the comments of a video, newest first. Results are paginated."""
    tokens, library_id = call.runtime.page_tokens, call.principal.library_id
    listing = f"comments of {video_id}"
    before = tokens.read(page_token, listing=listing, library_id=library_id) if page_token is not None else None
    comments, more = await service.list_comments(call.connection, call.principal, video_id, before=before, limit=limit)
    token = tokens.after(comments[-1].id, listing=listing, library_id=library_id) if more else None
    return ReviewCommentPage(comments=comments, next_page_token=token)


@router.post("/videos/{videoId}/comments", status_code=201, summary="Add a comment")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,))
async def create_review_comment(call: CurrentCall, video_id: VideoId, body: NewReviewComment) -> ReviewComment:
    """Adds a comment at a time of the video. A video has at most 5,000 comments."""
    created = await service.create_comment(call.connection, CommentAuthor(call.principal), video_id, body, now=call.now)
    call.record_change(after=created.model_dump(mode="json", by_alias=True, include=_AUDITED_COMMENT))
    return created


@router.get("/videos/{videoId}/comments/{commentId}", summary="Get a comment")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, has_revisions=True)
async def get_review_comment(call: CurrentCall, video_id: VideoId, comment_id: CommentId) -> ReviewComment:
    """Retrieves a comment."""
    return call.with_etag(await service.get_comment(call.connection, call.principal, video_id, comment_id))


@router.patch("/videos/{videoId}/comments/{commentId}", summary="Update a comment")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, has_revisions=True)
async def update_review_comment(
    call: CurrentCall,
    video_id: VideoId,
    comment_id: CommentId,
    patch: ReviewCommentPatch,
    if_match: IfMatch = None,
) -> ReviewComment:
    """Changes the text of a comment, which only its author can, or whether it is resolved."""
    updated = await service.update_comment(
        call.connection,
        CommentAuthor(call.principal),
        video_id,
        comment_id,
        patch,
        if_match=if_match,
        now=call.now,
    )
    call.record_change(after=updated.resource.model_dump(mode="json", by_alias=True, include=_AUDITED_COMMENT))
    return call.with_etag(updated)


@router.delete("/videos/{videoId}/comments/{commentId}", status_code=204, summary="Delete a comment")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, has_revisions=True)
async def delete_review_comment(
    call: CurrentCall, video_id: VideoId, comment_id: CommentId, if_match: IfMatch = None
) -> None:
    """Deletes a comment."""
    await service.delete_comment(
        call.connection,
        CommentAuthor(call.principal),
        video_id,
        comment_id,
        if_match=if_match,
    )
