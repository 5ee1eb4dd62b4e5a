"""Routes for videos, folders, characters and brand voices."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.library import service
from cutroom.library.playback import PlaybackLinks
from cutroom.library.schemas import (
    BrandVoiceList,
    CharacterList,
    Folder,
    FolderList,
    NewFolder,
    Video,
    VideoPage,
)
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.operation import Access, operation
from cutroom.web.paging import DEFAULT_PAGE, MAX_PAGE

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Library"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
FolderId = Annotated[str, Path(alias="folderId", min_length=1, description="The folder's id.")]
_VIDEOS = "videos"


@router.get("/videos", summary="List videos")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def list_videos(
    call: CurrentCall,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of videos to return.")] = DEFAULT_PAGE,
    page_token: Annotated[
        str | None, Query(alias="pageToken", description="The `nextPageToken` of the previous page.")
    ] = None,
) -> VideoPage:
    """Returns the videos of the library, newest first. Results are paginated."""
    tokens, library_id = call.runtime.page_tokens, call.principal.library_id
    before = tokens.read(page_token, listing=_VIDEOS, library_id=library_id) if page_token is not None else None
    videos, more = await service.list_videos(
        call.connection,
        call.principal,
        before=before,
        limit=limit,
        storage=call.runtime.storage,
        links=_links(call),
        now=call.now,
    )
    token = tokens.after(videos[-1].id, listing=_VIDEOS, library_id=library_id) if more else None
    return VideoPage.model_construct(videos=videos, next_page_token=token)


@router.get("/videos/{videoId}", summary="Get a video")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_video(call: CurrentCall, video_id: VideoId) -> Video:
    """Retrieves a video with its status and, once it is playable, its playback URLs."""
    return await service.get_video(
        call.connection, call.principal, video_id, storage=call.runtime.storage, links=_links(call), now=call.now
    )


def _links(call: RequestCall) -> PlaybackLinks:
    return PlaybackLinks(call.runtime.secret_box, call.runtime.settings.base_url)


@router.get("/folders", summary="List folders")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def list_folders(call: CurrentCall) -> FolderList:
    """Returns all folders of the library. Parents precede their children."""
    return FolderList(folders=await service.list_folders(call.connection, call.principal))


@router.post("/folders", status_code=201, summary="Create a folder")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, errors=(Code.NOT_FOUND,))
async def create_folder(call: CurrentCall, folder: NewFolder) -> Folder:
    """Creates a folder at the root or in another folder. Folders nest up to three levels deep."""
    created = await service.create_folder(call.connection, call.principal, folder, now=call.now)
    call.record_change(after={"name": created.name, "parentId": folder.parent_id})
    return created


@router.get("/folders/{folderId}", summary="Get a folder")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_folder(call: CurrentCall, folder_id: FolderId) -> Folder:
    """Retrieves a folder with its path."""
    return await service.get_folder(call.connection, call.principal, folder_id)


@router.get("/characters", summary="List characters")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def list_characters(call: CurrentCall) -> CharacterList:
    """Returns the saved characters, which can appear in thumbnails."""
    characters = await service.list_characters(call.connection, call.principal, call.runtime.storage)
    return CharacterList(characters=characters)


@router.get("/brand-voices", summary="List brand voices")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def list_brand_voices(call: CurrentCall) -> BrandVoiceList:
    """Returns the brand voices, which guide thumbnails and descriptions."""
    return BrandVoiceList(brand_voices=await service.list_brand_voices(call.connection, call.principal))
