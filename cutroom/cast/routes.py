"""Routes of the cast."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.cast import appearances, recognition, service
from cutroom.cast.schemas import (
    CastAppearancePage,
    CastMember,
    CastMemberPage,
    CastMemberPatch,
    CastRecognition,
    CastRecognitionState,
    NewCastMember,
)
from cutroom.cast.service import CastListing
from cutroom.errors import Code
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.paging import DEFAULT_PAGE, MAX_PAGE
from cutroom.web.revisions import IfMatch

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Cast"])

MemberId = Annotated[str, Path(alias="memberId", min_length=1, description="The id of the member of the cast.")]
VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
SpeakerId = Annotated[str, Path(alias="speakerId", min_length=1, description="The id of a speaker of its transcript.")]
PageToken = Annotated[str | None, Query(alias="pageToken", description="The `nextPageToken` of the previous page.")]
# Of the audit entry: the names of people are in none.
_AUDITED = {"folder_id", "voices"}


@router.get("/cast/members", summary="List members of the cast")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def list_cast_members(
    call: CurrentCall,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of members to return.")] = DEFAULT_PAGE,
    page_token: PageToken = None,
    folder_id: Annotated[
        str | None,
        Query(alias="folderId", pattern=r"^[0-9A-Za-z]{1,128}$", description="Only members limited to this folder."),
    ] = None,
) -> CastMemberPage:
    """Returns the members of the library's cast, newest first. Results are paginated."""
    tokens, library_id = call.runtime.page_tokens, call.principal.library_id
    name = f"cast {folder_id}"
    before = tokens.read(page_token, listing=name, library_id=library_id) if page_token is not None else None
    members, more = await service.list_members(call.connection, library_id, CastListing(limit, before, folder_id))
    token = tokens.after(members[-1].id, listing=name, library_id=library_id) if more else None
    return CastMemberPage(members=members, next_page_token=token)


@router.post("/cast/members", status_code=201, summary="Create a member of the cast")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.NOT_FOUND, Code.FAILED_PRECONDITION))
async def create_cast_member(call: CurrentCall, member: NewCastMember) -> CastMember:
    """Adds a person to the cast. A cast has at most 200 members.

    The member is recognized in new transcripts once a speaker has been confirmed to be this person.
    """
    created = await service.create_member(call.connection, call.principal, member, now=call.now)
    call.record_change(after=created.resource.model_dump(mode="json", by_alias=True, include=_AUDITED))
    return created.resource


@router.get("/cast/members/{memberId}", summary="Get a member of the cast")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, has_revisions=True)
async def get_cast_member(call: CurrentCall, member_id: MemberId) -> CastMember:
    """Retrieves a member of the cast."""
    return call.with_etag(await service.get_member(call.connection, call.principal.library_id, member_id))


@router.patch("/cast/members/{memberId}", summary="Update a member of the cast")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, has_revisions=True)
async def update_cast_member(
    call: CurrentCall, member_id: MemberId, patch: CastMemberPatch, if_match: IfMatch = None
) -> CastMember:
    """Changes a member. Fields that are not sent stay. Existing transcripts and dubs stay as they are."""
    before = await service.get_member(call.connection, call.principal.library_id, member_id)
    updated = await service.update_member(
        call.connection, call.principal, member_id, patch, if_match=if_match, now=call.now
    )
    audited = _AUDITED & patch.model_fields_set
    call.record_change(
        before=before.resource.model_dump(mode="json", by_alias=True, include=audited),
        after=updated.resource.model_dump(mode="json", by_alias=True, include=audited),
    )
    return call.with_etag(updated)


@router.delete("/cast/members/{memberId}", status_code=204, summary="Delete a member of the cast")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, has_revisions=True)
async def delete_cast_member(call: CurrentCall, member_id: MemberId, if_match: IfMatch = None) -> None:
    """Deletes a member, and erases the voice prints. Names of speakers in existing transcripts stay."""
    before = await service.get_member(call.connection, call.principal.library_id, member_id)
    await service.delete_member(call.connection, call.principal, member_id, if_match=if_match)
    call.record_change(before=before.resource.model_dump(mode="json", by_alias=True, include=_AUDITED))


@router.get("/cast/members/{memberId}/appearances", summary="List appearances of a member of the cast")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def list_cast_appearances(
    call: CurrentCall,
    member_id: MemberId,
    limit: Annotated[
        int, Query(ge=1, le=MAX_PAGE, description="Maximum number of appearances to return.")
    ] = DEFAULT_PAGE,
    page_token: PageToken = None,
) -> CastAppearancePage:
    """Returns the speakers of videos who are this member, newest first. Results are paginated."""
    tokens, library_id = call.runtime.page_tokens, call.principal.library_id
    await service.get_member(call.connection, library_id, member_id)
    name = f"cast appearances {member_id}"
    before = tokens.read(page_token, listing=name, library_id=library_id) if page_token is not None else None
    found, last = await appearances.list_appearances(call.connection, library_id, member_id, limit=limit, before=before)
    token = tokens.after(last, listing=name, library_id=library_id) if last is not None else None
    return CastAppearancePage(appearances=found, next_page_token=token)


@router.delete(
    "/cast/members/{memberId}/videos/{videoId}/speakers/{speakerId}",
    status_code=204,
    summary="Remove a speaker from a member of the cast",
)
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE)
async def delete_cast_appearance(
    call: CurrentCall, member_id: MemberId, video_id: VideoId, speaker_id: SpeakerId
) -> None:
    """Says that the speaker is not this member, and erases the voice print that was made from it.

    The name of the speaker in the transcript stays. A comparison of existing transcripts does not add it again.
    """
    removed = await appearances.delete_appearance(
        call.connection, call.principal.library_id, member_id, video_id, speaker=speaker_id, now=call.now
    )
    call.record_change(before=removed.model_dump(mode="json", by_alias=True, include={"source", "embedding_status"}))


@router.get("/cast/recognition", summary="Get where speakers are recognized")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_cast_recognition(call: CurrentCall) -> CastRecognitionState:
    """Returns where speakers are recognized by their voices: nowhere by default."""
    return await recognition.get_recognition(call.connection, call.principal.library_id)


@router.put("/cast/recognition", summary="Set where speakers are recognized")
@operation(
    scope=Scope.DUBS_WRITE,
    access=Access.WRITE,
    errors=(Code.NOT_FOUND,),
    minimum_role=Role.ADMIN,
)
async def set_cast_recognition(call: CurrentCall, wanted: CastRecognition) -> CastRecognitionState:
    """Sets where speakers are recognized by their voices, which are biometric data. For owners and admins.

    Voice prints of videos in which speakers are no longer recognized are erased at once.
    """
    library_id = call.principal.library_id
    before = await recognition.get_recognition(call.connection, library_id)
    after = await recognition.set_recognition(call.connection, library_id, wanted, now=call.now)
    call.record_change(before=before.model_dump(by_alias=True), after=after.model_dump(by_alias=True))
    return after
