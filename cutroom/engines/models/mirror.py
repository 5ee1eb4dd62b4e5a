"""Downloads models from a mirror of their publisher's files, and unpacks gzip files."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from cutroom.engines.models.download import PAUSE_SECONDS, Downloader, DownloadSession, ReportBytes
from cutroom.engines.models.files import ModelSourceError, check_file, part_path, unpack_gzip
from cutroom.engines.models.manifest import Model, ModelFile


class MirrorSource:
    """A server with the publisher's folders at a configured address."""

    name = "mirror"

    def __init__(self, address: str, *, report: ReportBytes, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._downloader = Downloader(address, server=self.name, report=report, pause_seconds=pause_seconds)

    async def fetch(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:
        """Downloads and unpacks each file to its partial path; the caller verifies it."""
        if model.mirror is None:
            raise ModelSourceError(f"The model {model.name} is not available from a mirror.")
        async with self._downloader.session() as session:
            for file in files:
                await _fetch_file(session, model.mirror, file, folder=folder)


async def _fetch_file(session: DownloadSession, mirror: str, file: ModelFile, *, folder: Path) -> None:
    served, partial = file.served, part_path(folder, file)
    path = "/".join(filter(None, (mirror, served.name)))
    if file.gzip is None:
        await session.download(path, file, partial=partial)
        return
    # A pull that failed at a later file has left this one unpacked.
    if (await asyncio.to_thread(check_file, partial, file)).fault is None:
        return
    packed = part_path(folder, served)
    await session.download(path, served, partial=packed)
    await asyncio.to_thread(unpack_gzip, packed, file, into=partial)
