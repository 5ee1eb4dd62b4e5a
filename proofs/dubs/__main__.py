"""A dub that one can watch the video with: in time, understood, over its own music, and never paid twice."""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from cutroom.engines.registry import Engines
from proofs.dubs.audio_quality import prove_bed, prove_loudness, prove_voices, prove_words
from proofs.dubs.kills import Killer, prove_change, prove_charged, prove_kills
from proofs.dubs.line_sync import prove_times
from proofs.dubs.long_videos import prove_memory, prove_preview
from proofs.dubs.premium import prove_premium
from proofs.stage.report import Report, prove
from tests.support.dialogue_video import make_film
from tests.support.dub_stage import dub, fund, send
from tests.support.stage import open_stage

SECONDS = 190.0
PAUSES = (0.5, 1.6)
SHORT_SECONDS = 63.0  # more than a minute, so that there is a preview; few words, so that it does not take long
SHORT_PAUSES = (4.0, 6.0)


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with open_stage("proof_dubs", folder / "stage") as stage:
            await fund(stage)
            engines = Engines(stage.settings)
            speaker = await asyncio.to_thread(engines.speaker)
            film = await asyncio.to_thread(
                make_film,
                folder,
                speaker,
                seconds=SHORT_SECONDS if short else SECONDS,
                pause_seconds=SHORT_PAUSES if short else PAUSES,
            )
            video_id = await send(stage, film.path)
            languages = ["pt"] if short else ["pt", "es"]
            killer = Killer(stage.worker, kills=1, span_seconds=SHORT_SECONDS) if short else None
            found = await dub(stage, video_id, languages, meanwhile=killer.look if killer is not None else None)
            made = {each.language: each for each in found}
            await prove_times(report, made)
            await prove_words(report, engines, made)
            await prove_loudness(report, film, made["pt"], folder)
            await prove_bed(report, stage, film, made["pt"])
            await prove_voices(report, engines, made["pt"])
            await prove_preview(report, stage, made["pt"] if short else None, folder, engines)
            await prove_change(report, stage, made["pt"])
            if killer is not None:  # it was killed on the way; whether the sound is the same is shown in the long form
                await prove_charged(report, stage, made["pt"], killer)
            else:
                await prove_kills(report, stage, film.path, undisturbed=made["pt"], kills=5)
                await prove_premium(report, stage, engines, folder)
        if not short:
            await prove_memory(report, folder)


if __name__ == "__main__":
    sys.exit(prove("Dubs", proof))
