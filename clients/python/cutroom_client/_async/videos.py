"""The videos of the library: upload, import, list, change, delete."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cutroom_client import models
from cutroom_client._async.uploads import CHUNK_BYTES, AsyncUpload, UploadSource
from cutroom_client._async.video import AsyncVideoHandle
from cutroom_client.calls import plain
from cutroom_client.transfers import TransferProgress

if TYPE_CHECKING:
    from cutroom_client._async.client import AsyncCutroom
    from cutroom_client.calls import Credits

PROVIDERS = {
    "youtube.com": "youtube",
    "youtu.be": "youtube",
    "drive.google.com": "google_drive",
    "dropbox.com": "dropbox",
}


class AsyncVideos:
    """The videos of the library."""

    def __init__(self, client: AsyncCutroom) -> None:
        self._client = client
        self._operations = client.operations

    async def upload(
        self,
        file: str | Path,
        *,
        title: str | None = None,
        folder_id: str | None = None,
        products: models.Recipes | Mapping[str, Any] | None = None,
        progress: TransferProgress | None = None,
        resume: bool = True,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> AsyncVideoHandle:
        """Uploads a file as a new video. If this process dies, the same call in another one continues the upload.

        `progress` is called with the stored and the total number of bytes.
        """
        path = Path(file)
        name = path.name[-255:]
        content_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        source = {"type": "upload", "fileName": name, "contentType": content_type}
        request = new_video(source, folder_id=folder_id, products=products)
        upload = UploadSource(path, name, content_type, request, chunk_bytes)
        video = await self.get(await AsyncUpload(self._client.transport, upload, progress).run(resume=resume))
        return await video.update(title=title) if title is not None else video

    async def import_url(
        self,
        url: str,
        *,
        provider: str | None = None,
        folder_id: str | None = None,
        products: models.Recipes | Mapping[str, Any] | None = None,
        max_credits: Credits | None = None,
    ) -> AsyncVideoHandle:
        """Imports a video from a URL: HTTPS, YouTube, Google Drive or Dropbox."""
        source = {"type": provider or provider_of(url), "url": url}
        request = new_video(source, folder_id=folder_id, products=products)
        created = await self._operations.create_video(request, max_credits=max_credits)
        return AsyncVideoHandle(self._client, created.video or models.Video(id=created.video_id, status="queued"))

    async def list(self, *, label: str | None = None, page_size: int = 100) -> AsyncIterator[AsyncVideoHandle]:
        """Every video, newest first; pages are read as they are needed."""
        token: str | None = None
        while True:
            page = await self._operations.list_videos(limit=page_size, page_token=token, label=label)
            for each in page.videos:
                yield AsyncVideoHandle(self._client, each)
            if (token := page.next_page_token) is None:
                return

    async def get(self, video_id: str) -> AsyncVideoHandle:
        return AsyncVideoHandle(self._client, await self._operations.get_video(video_id))

    def handle(self, video_id: str) -> AsyncVideoHandle:
        """A handle of a video without a request."""
        return AsyncVideoHandle(self._client, models.Video(id=video_id, status="queued"))

    async def update(self, video_id: str, **changes: Any) -> AsyncVideoHandle:  # noqa: ANN401
        """Changes the title, description, default_language_code, folder_ids or labels; None clears."""
        return await self.handle(video_id).update(**changes)

    async def delete(self, video_id: str, *, permanently: bool = False) -> None:
        await self.handle(video_id).delete(permanently=permanently)

    async def restore(self, video_id: str) -> AsyncVideoHandle:
        return await self.handle(video_id).restore()

    async def trash(self, *, page_size: int = 100) -> AsyncIterator[models.TrashedVideo]:
        """Every video in the trash."""
        token: str | None = None
        while True:
            page = await self._operations.list_trash(limit=page_size, page_token=token)
            for each in page.videos:
                yield each
            if (token := page.next_page_token) is None:
                return


def new_video(
    source: Mapping[str, Any], *, folder_id: str | None, products: models.Recipes | Mapping[str, Any] | None
) -> dict[str, Any]:
    """The request that creates a video."""
    request: dict[str, Any] = {"source": dict(source)}
    if folder_id is not None:
        request["folderId"] = folder_id
    if products is not None:
        request["products"] = plain(products)
    return request


def provider_of(url: str) -> str:
    """The provider that a URL belongs to, by its host."""
    host = (urlsplit(url).hostname or "").lower()
    for domain, provider in PROVIDERS.items():
        if host == domain or host.endswith(f".{domain}"):
            return provider
    return "https"
