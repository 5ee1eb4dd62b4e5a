"""Runs `cutroom-server models` as an operator does, against a mirror on the loopback interface."""

import asyncio
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cutroom.engines.models.manifest_reader import load_manifest
from cutroom.engines.models.store import ModelStore
from dev.probe import program_beside_python
from tests.support.translation_mirror import MirrorContent

COMMAND_SECONDS = 300.0
POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Operator:
    """A machine with an empty store, a manifest (the bundled one if None), and the address of a mirror."""

    folder: Path
    manifest: Path | None = None
    mirror: str = ""

    @property
    def store(self) -> ModelStore:
        return ModelStore(self.folder, manifest=load_manifest(self.manifest))

    async def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(
            subprocess.run,
            self._command(arguments),
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )

    async def kill_when(self, is_reached: Callable[[], bool], *arguments: str) -> None:
        """Runs a command and kills it with SIGKILL as soon as the condition holds."""
        process = await asyncio.create_subprocess_exec(
            *self._command(arguments), env=self._environment(), stderr=asyncio.subprocess.DEVNULL
        )
        try:
            async with asyncio.timeout(COMMAND_SECONDS):
                while process.returncode is None and not is_reached():
                    await asyncio.sleep(POLL_SECONDS)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return [str(program_beside_python("cutroom-server")), "models", *arguments]

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CUTROOM_")}
        manifest = {"CUTROOM_MODELS_MANIFEST": str(self.manifest)} if self.manifest else {}
        own = {"CUTROOM_MODELS_DIR": str(self.folder), "CUTROOM_TRANSLATION_MODELS_URL": self.mirror}
        return inherited | manifest | own


def write_manifest(path: Path, content: MirrorContent) -> Path:
    path.write_text(content.manifest_text(), encoding="utf-8")
    return path
