"""Routes that create upload sessions and serve the upload protocol."""

from fastapi import APIRouter

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.products.ingest.routes import VideoId
from cutroom.products.ingest.schemas import NewUploadSession, UploadSession
from cutroom.products.ingest.service import describe_upload, get_pending_upload, import_job_id
from cutroom.products.uploads.cancellation import cancel_upload
from cutroom.products.uploads.grants import Grant, sign_start_url
from cutroom.products.uploads.protocol import ROUTES
from cutroom.products.uploads.rules import DEFAULT_CONTENT_TYPE, START_LIFETIME
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Ingest"])
router.routes.extend(ROUTES)  # absolute paths outside /v1, without API key and response envelope


@router.post("/videos/{videoId}/uploads", summary="Create an upload session")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE)
async def create_upload(call: CurrentCall, video_id: VideoId, new_session: NewUploadSession) -> UploadSession:
    """Returns a signed URL for uploading the file of a reserved video.

    POST to it with the header `x-goog-resumable: start` within 30 minutes; the response's `Location` then accepts
    the bytes for a week, in the resumable protocol of Google Cloud Storage. An upload of which nothing has arrived
    after a day expires.
    """
    row = await get_pending_upload(call.connection, call.principal, video_id)
    content_type = new_session.content_type or row["content_type"]
    library_id = call.principal.library_id
    await describe_upload(
        call.connection, library_id, video_id, file_name=new_session.file_name, content_type=content_type
    )
    grant = Grant(
        library_id=library_id,
        video_id=video_id,
        storage_path=row["storage_path"],
        content_type=content_type or DEFAULT_CONTENT_TYPE,
        expires_at=int((call.now + START_LIFETIME).timestamp()),
        account_id=call.principal.user_id,
    )
    url = sign_start_url(call.runtime.secret_box, call.runtime.settings.base_url, grant)
    job_id = import_job_id(video_id)
    return UploadSession(url=url, video_id=video_id, storage_path=grant.storage_path, job_id=job_id)


@router.delete("/videos/{videoId}/uploads", status_code=204, summary="Cancel an upload")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,))
async def delete_upload(call: CurrentCall, video_id: VideoId) -> None:
    """Cancels an upload that has not finished: its import fails with `CANCELLED`, and what was received is deleted.

    Repeating the request has no further effect. Once the whole file has been received, it returns 409
    `FAILED_PRECONDITION`.
    """
    await cancel_upload(call.connection, call.principal, video_id, now=call.now)
