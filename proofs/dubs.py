"""A dub that one can watch the video with: in time, understood, over its own music, and never paid twice."""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from cutroom.engines.registry import Engines
from proofs.dubs_film import Film, make_film
from proofs.dubs_kills import prove_change, prove_kills
from proofs.dubs_long import prove_memory, prove_preview
from proofs.dubs_sound import prove_bed, prove_loudness, prove_voices, prove_words
from proofs.dubs_stage import dub, fund, send
from proofs.dubs_times import prove_times
from proofs.ingest_stage import open_stage
from proofs.report import Report, prove

SECONDS = 190.0
SHORT_SECONDS = 66.0


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with open_stage("proof_dubs", folder / "stage") as stage:
            await fund(stage)
            engines = Engines(stage.settings)
            film = await _film(folder, engines, SHORT_SECONDS if short else SECONDS)
            video_id = await send(stage, film.path)
            languages = ["pt"] if short else ["pt", "es"]
            made = {each.language: each for each in await dub(stage, video_id, languages)}
            await prove_times(report, made)
            await prove_words(report, stage, engines, made)
            await prove_loudness(report, film, made["pt"], folder)
            await prove_bed(report, stage, film, made["pt"])
            await prove_voices(report, engines, made["pt"])
            await prove_preview(report, stage, made["pt"] if short else None, folder, engines)
            await prove_change(report, stage, made["pt"])
            await prove_kills(report, stage, film.path, undisturbed=made["pt"], kills=1 if short else 5)
        if not short:
            await prove_memory(report, folder)


async def _film(folder: Path, engines: Engines, seconds: float) -> Film:
    return await asyncio.to_thread(lambda: make_film(folder, engines.speaker(), seconds=seconds))


if __name__ == "__main__":
    sys.exit(prove("Dubs", proof))
