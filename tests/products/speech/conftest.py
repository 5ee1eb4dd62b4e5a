"""Fixtures of the speech API: a fake synthesizer and voice clones in any state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from cutroom.capabilities.service import publish_voices
from cutroom.credits import ledger
from cutroom.engines.synthesis.port import Gender, StockVoice, SynthesizedSpeech
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.speech.rules import new_voice_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

VOICES = (
    StockVoice("af_one", "One", "en-US", Gender.FEMALE, "young", 200.0),
    StockVoice("pm_two", "Two", "pt-BR", Gender.MALE, "middle-aged", 110.0),
)


@dataclass
class FakeSynthesizer:
    """Lists voices, but cannot synthesize."""

    name: str = "fake"

    def voices(self) -> Sequence[StockVoice]:
        return VOICES

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        raise NotImplementedError


@dataclass(frozen=True)
class VoiceFactory:
    """Creates voice clones in one library."""

    accounts: Accounts
    library_id: str

    async def create(self, status: str, **columns: Any) -> str:  # noqa: ANN401 (columns)
        """Insert a clone whose job has the given status."""
        now = system_clock()
        ended = {"finished_at": now} if status in {"ready", "failed"} else {}
        error = (
            {"error_code": "UNSUPPORTED_SOURCE", "error_message": "No speech was found."} if status == "failed" else {}
        )
        job = {
            "library_id": self.library_id,
            "id": f"voice_{new_id()}",
            "type": "voice",
            "status": status,
            "attempt": 1,
            "plan": {},
            "depends_on": [],
            "progress": 0,
            "created_at": now,
            "updated_at": now,
            **ended,
            **error,
        }
        await insert(self.accounts.connection, "jobs", job)
        voice = {
            "library_id": self.library_id,
            "id": new_voice_id(),
            "job_id": job["id"],
            "name": f"{status} voice",
            "labels": {"language": "en"},
            "remove_noise": True,
            "sample_count": 1,
            "created_at": now,
            **({"reference_sha256": "abc", "preview_path": "p", "is_approximate": True} if status == "ready" else {}),
            **columns,
        }
        await insert(self.accounts.connection, "voices", voice)
        return str(voice["id"])


@pytest.fixture
async def voices(accounts: Accounts, person: Person, runtime: Runtime) -> VoiceFactory:
    await accounts.connection.execute("DELETE FROM stock_voices")
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_voices(connection, FakeSynthesizer(), now=system_clock())
    await ledger.grant(
        accounts.connection, person.library_id, millicredits=5_000, reference="tests", now=system_clock()
    )
    return VoiceFactory(accounts, person.library_id)
