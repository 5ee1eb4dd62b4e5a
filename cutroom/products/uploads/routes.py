"""Uploads: our own operation, which hands out a signed URL, and the protocol that is spoken behind that URL."""

from fastapi import APIRouter

from cutroom.accounts.scopes import Scope
from cutroom.products.ingest.routes import VideoId
from cutroom.products.ingest.schemas import NewUploadSession, UploadSession
from cutroom.products.ingest.service import import_job_id, upload_of
from cutroom.products.uploads.grants import Grant, sign_start_url
from cutroom.products.uploads.protocol import ROUTES
from cutroom.products.uploads.rules import DEFAULT_CONTENT_TYPE, START_LIFETIME
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Ingest"])
router.routes.extend(ROUTES)  # not under /v1: no key, no envelope, and their paths are whole already


@router.post("/videos/{videoId}/uploads", summary="Begin an upload")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE)
async def create_upload(call: CurrentCall, video_id: VideoId, wanted: NewUploadSession) -> UploadSession:
    """A URL at which the file of a reserved video can be sent.

    POST to it with the header `x-goog-resumable: start` within 30 minutes; the answer's `Location` then takes the
    bytes for a week, in the resumable protocol of Google Cloud Storage.
    """
    row = await upload_of(call.connection, call.principal, video_id)
    content_type = wanted.content_type or row["content_type"]
    library_id = call.principal.library_id
    await call.connection.execute(
        "UPDATE sources SET file_name = $3, content_type = $4 WHERE library_id = $1 AND video_id = $2",
        library_id,
        video_id,
        wanted.file_name,
        content_type,
    )
    grant = Grant(
        library_id=library_id,
        video_id=video_id,
        storage_path=row["storage_path"],
        content_type=content_type or DEFAULT_CONTENT_TYPE,
        expires_at=int((call.now + START_LIFETIME).timestamp()),
    )
    url = sign_start_url(call.runtime.secret_box, call.runtime.settings.base_url, grant)
    job_id = import_job_id(video_id)
    return UploadSession(url=url, video_id=video_id, storage_path=grant.storage_path, job_id=job_id)
