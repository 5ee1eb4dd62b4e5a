"""Dubs: in sync, intelligible, over the original music, and charged once."""

import asyncio
import sys
from collections.abc import Awaitable
from pathlib import Path
from tempfile import TemporaryDirectory

from cutroom.engines.registry import Engines
from eval.render_cache import CachedSynthesizer, speech_folder
from proofs.dubs.audio_quality import prove_background, prove_intelligibility, prove_loudness, prove_speaker_voices
from proofs.dubs.kills import WorkerKiller, prove_kills, prove_line_edit, prove_single_charge
from proofs.dubs.line_sync import prove_sync
from proofs.dubs.long_videos import prove_early_preview, prove_long_videos
from proofs.dubs.premium import prove_premium
from proofs.dubs.source_videos import SHORT_DIALOGUE, SourceVideos, source_videos
from proofs.dubs.talks import dub_talk, prove_talks
from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs
from tests.support.dialogue_video import DialogueVideo
from tests.support.dub_stage import FinishedDub, dub, fund, upload_and_transcribe
from tests.support.stage import Stage, open_stage

NEEDS = Needs(model_set="ci", programs=("ffmpeg", "apertium", "espeak-ng"), disk_bytes=4 * GB)
KILLS = 3  # spread over one dub


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with open_stage("proof_dubs", folder / "stage") as stage:
            await fund(stage)
            engines = Engines(stage.settings)
            # Only the videos are spoken from the cache: the worker has its own synthesizer.
            synthesizer = CachedSynthesizer(await asyncio.to_thread(engines.synthesizer), speech_folder())
            async with source_videos(synthesizer, folder, short=short) as videos:
                await _prove_dubs(report, stage, engines, videos, folder=folder, short=short)


async def _prove_dubs(
    report: Report, stage: Stage, engines: Engines, videos: SourceVideos, *, folder: Path, short: bool
) -> None:
    languages = ["pt"] if short else ["pt", "es"]
    killer = WorkerKiller(stage.worker, kills=1, span_seconds=SHORT_DIALOGUE.seconds) if short else None
    with report.timed("dialogue and talks"):  # together: recognition of one overlaps with synthesis of another
        dubs, dubbed_talks = await asyncio.gather(
            _dub_dialogue(stage, videos.dialogue, languages, killer),
            asyncio.gather(*(dub_talk(stage, each) for each in videos.talks)),
        )
    video = await videos.dialogue
    made = {each.language: each for each in dubs}
    with report.timed("comparison and recognition"):
        await prove_sync(report, [*dubs, *(each.finished for each in dubbed_talks)], short=short)
        await prove_intelligibility(report, engines, made)
        await prove_talks(report, engines, dubbed_talks, short=short)
        await prove_loudness(report, video, made["pt"], folder)
        await prove_background(report, stage, video, made["pt"])
        await prove_speaker_voices(report, engines, made["pt"])
    with report.timed("line edit"):
        await prove_line_edit(report, stage, made["pt"])
    if killer is not None:  # the worker was killed; that the audio is identical is proved in the long form
        await prove_early_preview(report, made["pt"])
        await prove_single_charge(report, stage, made["pt"], killer)
    else:
        premium, ten_minutes, hour = videos.long_form
        with report.timed("premium"):
            undisturbed = await prove_premium(report, stage, engines, await premium)
        with report.timed("kills"):
            await prove_kills(report, stage, (await premium).path, undisturbed=undisturbed, kills=KILLS)
        await prove_long_videos(report, stage, ten_minutes, hour)


async def _dub_dialogue(
    stage: Stage, video: Awaitable[DialogueVideo], languages: list[str], killer: WorkerKiller | None
) -> list[FinishedDub]:
    video_id = await upload_and_transcribe(stage, (await video).path)
    return await dub(stage, video_id, languages, while_waiting=killer.maybe_kill if killer is not None else None)


if __name__ == "__main__":
    sys.exit(prove("Dubs", proof, needs=NEEDS))
