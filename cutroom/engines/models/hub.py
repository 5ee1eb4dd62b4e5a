"""Downloads models from a hub with the Hugging Face URL layout."""

from collections.abc import Sequence
from pathlib import Path

from cutroom.engines.models.download import PAUSE_SECONDS, Downloader, ReportBytes
from cutroom.engines.models.files import ModelSourceError, part_path
from cutroom.engines.models.manifest import HubLocation, Model, ModelFile

REVISION = "main"  # files are pinned by hash, so any revision that has them works


class HubSource:
    """A hub at a configured address."""

    name = "hub"

    def __init__(self, address: str, *, report: ReportBytes, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._downloader = Downloader(address, server=self.name, report=report, pause_seconds=pause_seconds)

    async def fetch(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:
        """Downloads each file to its partial path; the caller verifies it."""
        if model.hub is None:
            raise ModelSourceError(f"The model {model.name} is not available from a hub.")
        async with self._downloader.session() as session:
            for file in files:
                await session.download(_path(model.hub, file), file, partial=part_path(folder, file))


class MissingHub:
    """Placeholder source that explains how to configure a hub."""

    name = "hub"

    async def fetch(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:  # noqa: ARG002
        raise ModelSourceError("No hub is configured. Set CUTROOM_MODEL_HUB to its address, https://...")


def _path(hub: HubLocation, file: ModelFile) -> str:
    return "/".join(filter(None, (hub.repository, "resolve", REVISION, hub.folder, file.name)))
