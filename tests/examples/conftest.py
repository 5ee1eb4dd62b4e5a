"""One stage for all examples: an API, a worker with the real engines, and a video with captions and a dub."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cutroom_client import Cutroom, VideoHandle

from cutroom.platform.settings import Settings
from dev.environment import PROJECT
from dev.scratch import drop_scratch
from dev.server import free_port
from dev.typescript_client import toolchain
from tests.examples.media_server import self_signed, served
from tests.examples.worker import CERTIFICATE, NAME
from tests.support.dub_stage import fund
from tests.support.stage import Stage, open_stage

EXAMPLES = PROJECT / "examples"
SAMPLE = EXAMPLES / "launch.mp4"
SAMPLE_SECONDS = 14
SECONDS = 900


@dataclass(frozen=True)
class MediaServer:
    """A folder that the test reaches over HTTP, and the worker over HTTPS by a public name."""

    folder: Path
    certificate: Path
    url: str
    public_url: str


@pytest.fixture(scope="session")
def media(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MediaServer]:
    folder = tmp_path_factory.mktemp("media")
    certificate, tls = self_signed(tmp_path_factory.mktemp("tls"), NAME)
    with served(folder) as port, served(folder, tls=tls) as secure_port:
        yield MediaServer(folder, certificate, f"http://127.0.0.1:{port}", f"https://{NAME}:{secure_port}")


@pytest.fixture(scope="session")
async def stage(
    settings: Settings, media: MediaServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """The engines are the real ones, without those that only matter for longer videos."""
    assert settings.temporal_address  # the services are running
    name = f"examples_{os.getpid()}"
    async with open_stage(
        name,
        tmp_path_factory.mktemp("stage"),
        environment={CERTIFICATE: str(media.certificate)},
        worker_module="tests.examples.worker",
        asr_engines=["whisper-tiny.en"],
        embedder="none",
        face_landmarker="none",
        background_remover="none",
        tts_engines=["kokoro"],
        worker_health_port=free_port(),
        worker_metrics_port=None,
        metrics_port=None,
    ) as opened:
        await fund(opened)
        yield opened
    await drop_scratch(name)


@pytest.fixture(scope="session")
def client(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cutroom]:
    with Cutroom(stage.key.secret, stage.api.url, state_dir=tmp_path_factory.mktemp("state")) as opened:
        yield opened


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first seconds of the sample: most of the time of an example is in proportion to the video."""
    start = tmp_path_factory.mktemp("sample") / SAMPLE.name
    command = ["ffmpeg", "-v", "error", "-i", str(SAMPLE), "-t", str(SAMPLE_SECONDS), "-c", "copy", str(start)]
    subprocess.run(command, check=True)
    return start


@pytest.fixture(scope="session")
def video(client: Cutroom, sample: Path) -> VideoHandle:
    """A video with a transcript, captions and a dub."""
    video = client.videos.upload(sample)
    jobs = [video.captions("pt", accept_draft=True), video.dub("pt", accept_draft=True)]
    for job in jobs:
        job.wait(SECONDS)
    return video.refresh()


@dataclass
class Examples:
    """Runs examples as their users do, in a folder of their own."""

    folder: Path
    environment: dict[str, str] = field(repr=False)

    def command(self, program: str, *arguments: object) -> list[str]:
        interpreters: Mapping[str, Callable[[], list[str]]] = {
            ".py": lambda: [sys.executable, str(EXAMPLES / program)],
            ".sh": lambda: ["bash", str(EXAMPLES / program)],
            ".mjs": lambda: [str(toolchain.NODE), str(self._installed(program))],
        }
        return [*interpreters[Path(program).suffix](), *map(str, arguments)]

    def run(self, program: str, *arguments: object, succeeds: bool = True, **variables: str) -> str:
        """Returns the output of a finished program."""
        ended = subprocess.run(
            self.command(program, *arguments),
            cwd=self.folder,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert (ended.returncode == 0) is succeeds, ended.stdout + ended.stderr
        return ended.stdout + ("" if succeeds else ended.stderr)

    def _installed(self, program: str) -> Path:
        """The program beside an installed package, as `npm install` leaves it."""
        package = self.folder / "node_modules" / "@cutroom" / "client"
        if not package.exists():
            toolchain.build()
            package.parent.mkdir(parents=True)
            package.symlink_to(toolchain.CLIENT)
        copy = self.folder / program
        copy.write_text((EXAMPLES / program).read_text())
        return copy


@pytest.fixture
def examples(stage: Stage, tmp_path: Path) -> Examples:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUTROOM_")}
    variables = {
        "CUTROOM_API_KEY": stage.key.secret,
        "CUTROOM_BASE_URL": stage.api.url,
        "CUTROOM_STATE_DIR": str(tmp_path / "state"),
        "KEY": stage.key.secret,
        "API": f"{stage.api.url}/v1",
    }
    return Examples(tmp_path, environment | variables)
