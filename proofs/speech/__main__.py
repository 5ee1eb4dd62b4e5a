"""Speech API: compatibility with the official client, intelligibility, latency, and exactly-once charging."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from cutroom.credits import ledger
from cutroom.engines.registry import Engines
from cutroom.platform.clock import system_clock
from proofs.speech.client import exercise_client, prove_client
from proofs.speech.kills import prove_kills
from proofs.speech.languages import prove_languages
from proofs.speech.latency import prove_latency
from proofs.speech.long_text import prove_long_text
from proofs.speech.transcription import prove_clones
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from tests.support.stage import Stage, open_stage

CREDITS = 500_000  # millicredits


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with open_stage("proof_speech", folder / "stage") as stage:
            await _fund(stage)
            engines = Engines(stage.settings)
            client = await exercise_client(stage)
            voices, made = client.voices, {"two_cities": client.clone_id}
            await prove_languages(report, stage, engines, voices, short=short)
            await prove_clones(report, stage, engines, made=made, speakers=1 if short else 2)
            await prove_client(report, stage, client)
            await prove_latency(report, stage, engines, voices, rounds=3 if short else 9)
            await prove_long_text(report, stage, engines, voices, characters=320 if short else 10_000)
            await prove_kills(report, stage, voices, kills=1 if short else 5, characters=170 if short else 700)


async def _fund(stage: Stage) -> None:
    await ledger.grant(
        stage.accounts.connection,
        stage.person.library_id,
        millicredits=CREDITS,
        reference="proof",
        now=system_clock(),
    )


if __name__ == "__main__":
    needs = Needs(model_set="ci", programs=("ffmpeg", "espeak-ng"))
    sys.exit(prove("Speech API", proof, needs=needs))
