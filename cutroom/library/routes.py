"""Routes for videos, folders, characters and brand voices."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.library import branding, folders, service, videos
from cutroom.library.playback import PlaybackLinks
from cutroom.library.rules import MAX_LABEL
from cutroom.library.schemas import (
    BrandVoice,
    BrandVoiceList,
    BrandVoicePatch,
    Character,
    CharacterList,
    CharacterPatch,
    Folder,
    FolderList,
    FolderPatch,
    NewFolder,
    Video,
    VideoPage,
    VideoPatch,
)
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.operation import Access, operation
from cutroom.web.paging import DEFAULT_PAGE, MAX_PAGE
from cutroom.web.revisions import IfMatch

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Library"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
FolderId = Annotated[str, Path(alias="folderId", min_length=1, description="The folder's id.")]
CharacterId = Annotated[str, Path(alias="characterId", min_length=1, description="The character's id.")]
BrandVoiceId = Annotated[str, Path(alias="brandVoiceId", min_length=1, description="The brand voice's id.")]
Label = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=MAX_LABEL,
        pattern=r"^[^\x00]+$",  # PostgreSQL text cannot store NUL
        description="Only videos with this label.",
    ),
]
_VIDEOS = "videos"


@router.get("/videos", summary="List videos")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def list_videos(
    call: CurrentCall,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of videos to return.")] = DEFAULT_PAGE,
    page_token: Annotated[
        str | None, Query(alias="pageToken", description="The `nextPageToken` of the previous page.")
    ] = None,
    label: Label = None,
) -> VideoPage:
    """Returns the videos of the library, newest first. Results are paginated."""
    tokens, library_id = call.runtime.page_tokens, call.principal.library_id
    listing = _VIDEOS if label is None else f"{_VIDEOS} labeled {label}"
    before = tokens.read(page_token, listing=listing, library_id=library_id) if page_token is not None else None
    found, more = await service.list_videos(
        call.connection,
        call.principal,
        service.VideoListing(limit, before=before, label=label),
        storage=call.runtime.storage,
        links=_links(call),
        now=call.now,
    )
    token = tokens.after(found[-1].id, listing=listing, library_id=library_id) if more else None
    return VideoPage.model_construct(videos=found, next_page_token=token)


@router.get("/videos/{videoId}", summary="Get a video")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, has_revisions=True)
async def get_video(call: CurrentCall, video_id: VideoId) -> Video:
    """Retrieves a video with its status and, once it is playable, its playback URLs."""
    return await _video(call, video_id)


@router.patch("/videos/{videoId}", summary="Update a video")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, has_revisions=True)
async def update_video(call: CurrentCall, video_id: VideoId, patch: VideoPatch, if_match: IfMatch = None) -> Video:
    """Changes the title, description, language, folders or labels. Fields that are not sent stay; null clears."""
    before = await _video(call, video_id)
    await videos.update_video(call.connection, call.principal, video_id, patch, if_match=if_match, now=call.now)
    after = await _video(call, video_id)
    call.record_update(patch, before=before, after=after)
    return after


async def _video(call: RequestCall, video_id: str) -> Video:
    found = await service.get_revised_video(
        call.connection, call.principal, video_id, storage=call.runtime.storage, links=_links(call), now=call.now
    )
    return call.with_etag(found)


def _links(call: RequestCall) -> PlaybackLinks:
    return PlaybackLinks(call.runtime.secret_box, call.runtime.settings.base_url)


@router.get("/folders", summary="List folders")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def list_folders(call: CurrentCall) -> FolderList:
    """Returns all folders of the library. Parents precede their children."""
    return FolderList(folders=await folders.list_folders(call.connection, call.principal))


@router.post("/folders", status_code=201, summary="Create a folder")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, errors=(Code.NOT_FOUND,))
async def create_folder(call: CurrentCall, folder: NewFolder) -> Folder:
    """Creates a folder at the root or in another folder. Folders nest up to three levels deep."""
    created = await folders.create_folder(call.connection, call.principal, folder, now=call.now)
    call.record_change(after={"name": created.name, "parentId": folder.parent_id})
    return created


@router.get("/folders/{folderId}", summary="Get a folder")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, has_revisions=True)
async def get_folder(call: CurrentCall, folder_id: FolderId) -> Folder:
    """Retrieves a folder with its path."""
    return call.with_etag(await folders.get_revised_folder(call.connection, call.principal, folder_id))


@router.patch("/folders/{folderId}", summary="Update a folder")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, has_revisions=True)
async def update_folder(call: CurrentCall, folder_id: FolderId, patch: FolderPatch, if_match: IfMatch = None) -> Folder:
    """Renames a folder, or moves it with everything in it. Folders nest up to three levels deep."""
    before = await folders.get_revised_folder(call.connection, call.principal, folder_id)
    updated = await folders.update_folder(call.connection, call.principal, folder_id, patch, if_match=if_match)
    call.record_update(patch, before=before.resource, after=updated.resource)
    return call.with_etag(updated)


@router.delete("/folders/{folderId}", status_code=204, summary="Delete a folder")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, has_revisions=True)
async def delete_folder(call: CurrentCall, folder_id: FolderId, if_match: IfMatch = None) -> None:
    """Deletes a folder. Its videos stay in the library. A folder that contains folders is not deleted (409)."""
    before = await folders.get_revised_folder(call.connection, call.principal, folder_id)
    await folders.delete_folder(call.connection, call.principal, folder_id, if_match=if_match)
    call.record_change(before={"name": before.resource.name})


@router.get("/characters", summary="List characters")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def list_characters(call: CurrentCall) -> CharacterList:
    """Returns the saved characters, which can appear in thumbnails."""
    characters = await service.list_characters(call.connection, call.principal, call.runtime.storage)
    return CharacterList(characters=characters)


@router.get("/characters/{characterId}", summary="Get a character")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, has_revisions=True)
async def get_character(call: CurrentCall, character_id: CharacterId) -> Character:
    """Retrieves a character with its reference images."""
    return await _character(call, character_id)


@router.patch("/characters/{characterId}", summary="Update a character")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, has_revisions=True)
async def update_character(
    call: CurrentCall, character_id: CharacterId, patch: CharacterPatch, if_match: IfMatch = None
) -> Character:
    """Renames a character."""
    library_id = call.principal.library_id
    before = await _character(call, character_id)
    await branding.update_character(call.connection, library_id, character_id, patch, if_match=if_match)
    after = await _character(call, character_id)
    call.record_update(patch, before=before, after=after)
    return after


async def _character(call: RequestCall, character_id: str) -> Character:
    storage = call.runtime.storage
    return call.with_etag(await service.get_character(call.connection, call.principal, character_id, storage=storage))


@router.get("/brand-voices", summary="List brand voices")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def list_brand_voices(call: CurrentCall) -> BrandVoiceList:
    """Returns the brand voices, which guide thumbnails and descriptions."""
    return BrandVoiceList(brand_voices=await service.list_brand_voices(call.connection, call.principal))


@router.get("/brand-voices/{brandVoiceId}", summary="Get a brand voice")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, has_revisions=True)
async def get_brand_voice(call: CurrentCall, brand_voice_id: BrandVoiceId) -> BrandVoice:
    """Retrieves a brand voice."""
    return call.with_etag(await service.get_brand_voice(call.connection, call.principal, brand_voice_id))


@router.patch("/brand-voices/{brandVoiceId}", summary="Update a brand voice")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, has_revisions=True)
async def update_brand_voice(
    call: CurrentCall, brand_voice_id: BrandVoiceId, patch: BrandVoicePatch, if_match: IfMatch = None
) -> BrandVoice:
    """Changes the name, guidelines or colors. Fields that are not sent stay; null clears the colors."""
    library_id = call.principal.library_id
    before = await service.get_brand_voice(call.connection, call.principal, brand_voice_id)
    await branding.update_brand_voice(call.connection, library_id, brand_voice_id, patch, if_match=if_match)
    updated = await service.get_brand_voice(call.connection, call.principal, brand_voice_id)
    call.record_update(patch, before=before.resource, after=updated.resource)
    return call.with_etag(updated)


@router.delete("/brand-voices/{brandVoiceId}", status_code=204, summary="Delete a brand voice")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, has_revisions=True)
async def delete_brand_voice(call: CurrentCall, brand_voice_id: BrandVoiceId, if_match: IfMatch = None) -> None:
    """Deletes a brand voice. What was made with it stays. While an unfinished job uses it, it is not deleted (409)."""
    library_id = call.principal.library_id
    before = await service.get_brand_voice(call.connection, call.principal, brand_voice_id)
    await branding.delete_brand_voice(call.connection, library_id, brand_voice_id, if_match=if_match)
    call.record_change(before={"name": before.resource.name})
