"""Fixtures: an API and a worker as processes, and the built TypeScript client."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cutroom.platform.settings import Settings
from dev.scratch import drop_scratch
from dev.server import free_port
from dev.typescript_client import toolchain
from tests.support.stage import Stage, make_video, open_stage

VIDEO_SECONDS = 4


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of the client's modules."""
    return toolchain.build()


@pytest.fixture(scope="session")
async def stage(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A worker without engines: the client is tested with imports and downloads, which need none."""
    assert settings.temporal_address  # the services are running
    name = f"typescript_{os.getpid()}"
    async with open_stage(
        name,
        tmp_path_factory.mktemp("stage"),
        speaker_embedder="none",
        separator="none",
        embedder="none",
        face_landmarker="none",
        background_remover="none",
        worker_health_port=free_port(),
        worker_metrics_port=None,
        metrics_port=None,
    ) as opened:
        yield opened
    await drop_scratch(name)


@pytest.fixture(scope="session")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video of several chunks of 256 KiB."""
    return make_video(tmp_path_factory.mktemp("video") / "video.mp4", VIDEO_SECONDS, size="1280x720")
