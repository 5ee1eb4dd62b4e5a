"""The stage of the command line's proof: a service with a worker, an account with credits, and a home directory."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from dev.environment import PROJECT
from tests.support.stage import Stage, open_stage

EXAMPLE = PROJECT / "examples" / "launch.mp4"
EXAMPLE_SECONDS = 9
CREDITS = 500
# The cheapest engines: the proof is about the commands, and other proofs are about the results.
ENVIRONMENT = {
    "CUTROOM_ASR_ENGINES": "whisper-tiny.en",
    "CUTROOM_SPEAKER_EMBEDDER": "none",
    "CUTROOM_SPEECH_THREADS": "2",
    "CUTROOM_PLAYBACK": "off",
}


@dataclass(frozen=True)
class CommandStage:
    """A service, and where the command line keeps what it knows."""

    stage: Stage
    folder: Path
    video: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a person's shell, with a home of its own and without the settings of the service."""
        inherited = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {
            **inherited,
            "HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder / "home" / "config"),
            "XDG_STATE_HOME": str(self.folder / "home" / "state"),
            "CUTROOM_BASE_URL": self.stage.api.url,
            "COLUMNS": "120",
            "TERM": "xterm",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }


@asynccontextmanager
async def open_command_stage(folder: Path) -> AsyncIterator[CommandStage]:
    (folder / "home").mkdir(mode=0o700)
    video = folder / "launch.mp4"
    cut = ["ffmpeg", "-v", "error", "-y", "-i", str(EXAMPLE), "-t", str(EXAMPLE_SECONDS), "-c", "copy", str(video)]
    await asyncio.to_thread(subprocess.run, cut, check=True)
    async with open_stage("proof_cli", folder, environment=ENVIRONMENT) as stage:
        await ledger.grant(
            stage.accounts.connection,
            stage.person.library_id,
            millicredits=CREDITS * 1000,
            reference="proof",
            now=system_clock(),
        )
        yield CommandStage(stage, folder, video)
