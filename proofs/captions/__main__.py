"""Captions: a real transcript in other languages, with its times, its numbers kept or flagged, and honest bills."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cutroom.products.transcripts.sentences import Segment
from proofs.captions.faults import chat_environment, prove_damage, prove_faults, prove_refused
from proofs.captions.numbers import SECONDS_EACH, sentences_with_numbers, spoken, unkept
from proofs.captions.stage import Desk
from proofs.stage.cue_checks import breaks, counted, segments_from
from proofs.stage.recorded_speech import make_speech
from proofs.stage.report import Report, prove
from proofs.stage.subtitle_parsers import agree, cues_of, download
from proofs.stage.transcript_stage import read, reader, send, write_wav
from tests.support.chat_server import chat_server
from tests.support.stage import make_film, open_stage

SHORT_SPEECH_SECONDS, LONG_SPEECH_SECONDS = 60, 300
SHORT_NUMBERS, LONG_NUMBERS = 60, 420  # lines; their films are whole minutes long
SEED = 3
WAIT_SECONDS = 1800
ENVIRONMENT = {
    "CUTROOM_ASR_ENGINES": "whisper-tiny.en",
    "CUTROOM_SPEAKER_EMBEDDER": "none",
    "CUTROOM_SPEECH_THREADS": "2",
}
# Which engines lead from English to each language, and over which others.
ROUTES: dict[str, tuple[list[str], list[str]]] = {"pt": (["firefox"], []), "ca": (["firefox", "apertium"], ["pt"])}


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    sources = sentences_with_numbers(SHORT_NUMBERS if short else LONG_NUMBERS, seed=SEED)
    speech = make_speech(SHORT_SPEECH_SECONDS if short else LONG_SPEECH_SECONDS, seed=SEED)
    with TemporaryDirectory() as name, chat_server() as server:
        folder = Path(name)
        environment = {**ENVIRONMENT, **chat_environment(server)}
        async with open_stage("proof_captions", folder, environment=environment) as stage, reader(stage) as client:
            desk = Desk(stage, client)
            await desk.grant()
            film = make_film(folder / "numbers.mp4", round(len(sources) * SECONDS_EACH), size="160x90", rate=5)
            said = await send(client, write_wav(folder / "speech.wav", speech.samples))
            figured = await send(client, film)
            told = await read(stage, client, said, seconds=WAIT_SECONDS)
            await read(stage, client, figured, seconds=WAIT_SECONDS)
            await desk.replace_transcript(figured, spoken(sources))
            heard = segments_from(told.transcript, told.words)
            lines = await _prove_speech(report, desk, said, heard)
            await prove_refused(report, desk, said)
            await prove_faults(report, desk, server, said)
            more, unflagged = await _prove_numbers(report, desk, figured, sources)
            unflagged += await prove_damage(report, desk, server, figured, sources)
    report.figures(lines=lines + more, unflagged_losses=unflagged)


async def _prove_speech(report: Report, desk: Desk, video_id: str, heard: Sequence[Segment]) -> int:
    """A real transcript into every language of the routes; how many lines were translated."""
    quoted = await desk.quote(video_id, list(ROUTES))
    jobs = await desk.make(video_id, list(ROUTES))
    after = (await desk.quote(video_id, []))["balance"]
    paid = [await desk.receipt(job["id"]) for job in jobs]
    captured = sum(each["captured"] for each in paid)
    report.claim(
        f"credits quoted, captured, gone from the wallet for {len(ROUTES)} languages",
        wanted="the same",
        measured=f"{quoted['total']}, {captured}, {round(quoted['balance'] - after, 3)}",
        holds=quoted["total"] == captured == round(quoted["balance"] - after, 3) > 0,
    )
    for job in jobs:
        _claim_result(report, job, lines=len(heard))
        kept = await desk.captions(video_id, job["language"])
        _claim_times(report, job["language"], kept, heard)
        await _claim_files(report, desk, video_id, job, kept, heard)
    return len(heard) * len(jobs)


def _claim_result(report: Report, job: dict[str, Any], *, lines: int) -> None:
    engines, via = ROUTES[job["language"]]
    result = job.get("result", {})
    told = {name: result.get(name) for name in ("engines", "via", "lines", "quality", "flaggedLines")}
    report.claim(
        f"captions in {job['language']}: the job's result",
        wanted=f"ready, {engines} via {via}, {lines} lines, with quality and flags",
        measured=f"{job['status']}, {told}",
        holds=job["status"] == "ready"
        and (told["engines"], told["via"], told["lines"]) == (engines, via, lines)
        and told["quality"] in {"good", "draft"}
        and told["flaggedLines"] == len(result["flagged"]),
    )


def _claim_times(report: Report, language: str, kept: Sequence[dict[str, Any]], heard: Sequence[Segment]) -> None:
    moved = sum(
        (row["start"], row["end"], row["speaker"]) != (segment.start_seconds, segment.end_seconds, segment.speaker)
        for row, segment in zip(kept, heard, strict=False)
    )
    empty = sum(not row["text"].strip() for row in kept)
    report.claim(
        f"captions in {language}: lines, with other times than in the transcript, without text",
        wanted=f"{len(heard)}, 0, 0",
        measured=f"{len(kept)}, {moved}, {empty}",
        holds=len(kept) == len(heard) and moved == empty == 0,
    )


async def _claim_files(
    report: Report,
    desk: Desk,
    video_id: str,
    job: dict[str, Any],
    kept: Sequence[dict[str, Any]],
    heard: Sequence[Segment],
) -> None:
    language = job["language"]
    written = await download(desk.client, video_id, language=language)
    readings = written.readings()
    shown = readings["pysubs2, srt"]
    others = [name for name, each in readings.items() if not agree(shown, each)]
    cues = cues_of(written.vtt)
    parts = [replace(segment, text=row["text"]) for segment, row in zip(heard, kept, strict=True)]
    found = breaks(shown, cues, segments=parts, language=language)
    forced, unforced = [each for each in found if each.reason], [each for each in found if not each.reason]
    for each in found:
        text = " / ".join(shown[each.cue].lines) if each.cue < len(shown) else ""
        report.note(
            f"{language}, cue {each.cue + 1}, {each.rule} ({each.detail}): {each.reason or 'NO REASON'}: {text}"
        )
    report.claim(
        f"subtitles in {language}: readers that disagree, rules broken without need",
        wanted="none, none",
        measured=f"{', '.join(others) or 'none'}, {counted(unforced)} in {len(cues)} cues; forced: {counted(forced)}",
        holds=bool(cues) and not others and not unforced,
    )


async def _prove_numbers(report: Report, desk: Desk, video_id: str, sources: Sequence[str]) -> tuple[int, int]:
    """Every number and address of the source is in the translation, or its line is flagged; lines, and how many not."""
    jobs = await desk.make(video_id, list(ROUTES))
    missed = 0
    for job in jobs:
        kept = [row["text"] for row in await desk.captions(video_id, job["language"])]
        lost = unkept(sources, kept)
        flagged = {each["line"]: each for each in job["result"]["flagged"]}
        unflagged = [each for each in lost if each.line not in flagged]
        for each in unflagged:
            report.note(f"not flagged in {job['language']}: {each.source} -> {each.translation}: {each.parts}")
        told = all(
            each["source"] == sources[line] and each["translation"] == kept[line] for line, each in flagged.items()
        )
        report.claim(
            f"lines full of numbers in {job['language']} that lack some, not flagged",
            wanted="0, and flags tell both sides",
            measured=f"{len(unflagged)} of {len(lost)} in {len(kept)}, {len(flagged)} flagged",
            holds=len(kept) == len(sources) and not unflagged and told,
        )
        missed += len(unflagged)
    return len(sources) * len(jobs), missed


if __name__ == "__main__":
    sys.exit(prove("Captions", proof))
