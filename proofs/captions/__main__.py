"""Captions: real transcripts translated with exact timing, numbers preserved or flagged, and exact billing."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cutroom.products.transcripts.segmentation import TranscriptSegment
from proofs.captions.editing import prove_regeneration
from proofs.captions.faults import (
    chat_environment,
    prove_engine_failures,
    prove_unsupported_language,
    prove_wrong_numbers,
)
from proofs.captions.numbers import SECONDS_EACH, as_segments, find_missing, sentences_with_numbers
from proofs.captions.stage import CaptionsClient
from proofs.stage.cue_checks import count_by_rule, find_violations, join_segments
from proofs.stage.recorded_speech import make_speech
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from proofs.stage.subtitle_parsers import agree, cues_of, download
from proofs.stage.transcript_stage import open_client, upload_file, wait_for_transcript, write_wav
from tests.support.servers.chat_server import chat_server
from tests.support.stage import make_video, open_stage

SHORT_SPEECH_SECONDS, LONG_SPEECH_SECONDS = 60, 300
SHORT_NUMBERS, LONG_NUMBERS = 60, 420  # lines; their videos last whole minutes
SEED = 3
WAIT_SECONDS = 1800
ENVIRONMENT = {
    "CUTROOM_ASR_ENGINES": "whisper-tiny.en",
    "CUTROOM_SPEAKER_EMBEDDER": "none",
    "CUTROOM_SPEECH_THREADS": "2",
}
# Expected engines and pivot languages from English, by target language.
ROUTES: dict[str, tuple[list[str], list[str]]] = {"pt": (["firefox"], []), "ca": (["firefox", "apertium"], ["pt"])}


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    sources = sentences_with_numbers(SHORT_NUMBERS if short else LONG_NUMBERS, seed=SEED)
    speech = make_speech(SHORT_SPEECH_SECONDS if short else LONG_SPEECH_SECONDS, seed=SEED)
    with TemporaryDirectory() as name, chat_server() as server:
        folder = Path(name)
        environment = {**ENVIRONMENT, **chat_environment(server)}
        async with open_stage("proof_captions", folder, environment=environment) as stage, open_client(stage) as client:
            api = CaptionsClient(stage, client)
            await api.grant()
            numbers_video = make_video(
                folder / "numbers.mp4", round(len(sources) * SECONDS_EACH), size="160x90", rate=5
            )
            speech_id = await upload_file(client, write_wav(folder / "speech.wav", speech.samples))
            numbers_id = await upload_file(client, numbers_video)
            transcribed = await wait_for_transcript(stage, client, speech_id, seconds=WAIT_SECONDS)
            await wait_for_transcript(stage, client, numbers_id, seconds=WAIT_SECONDS)
            await api.replace_transcript(numbers_id, as_segments(sources))
            segments = join_segments(transcribed.transcript, transcribed.words)
            lines = await _prove_speech(report, api, speech_id, segments)
            await prove_unsupported_language(report, api, speech_id)
            await prove_engine_failures(report, api, server, speech_id)
            more, unflagged = await _prove_numbers(report, api, numbers_id, sources)
            unflagged += await prove_wrong_numbers(report, api, server, numbers_id, sources)
            stale, stale_wrong = await prove_regeneration(report, api, numbers_id)
    report.figures(lines=lines + more, unflagged_losses=unflagged, stale=stale, stale_wrong=stale_wrong)


async def _prove_speech(
    report: Report, api: CaptionsClient, video_id: str, segments: Sequence[TranscriptSegment]
) -> int:
    """Translate a real transcript along every route; returns the number of translated lines."""
    quoted = await api.quote(video_id, list(ROUTES))
    jobs = await api.make_captions(video_id, list(ROUTES))
    after = (await api.quote(video_id, []))["balance"]
    receipts = [await api.receipt(job["id"]) for job in jobs]
    captured = sum(each["captured"] for each in receipts)
    report.claim(
        f"credits quoted, captured and deducted from the wallet for {len(ROUTES)} languages",
        expected="equal",
        measured=f"{quoted['total']}, {captured}, {round(quoted['balance'] - after, 3)}",
        holds=quoted["total"] == captured == round(quoted["balance"] - after, 3) > 0,
    )
    for job in jobs:
        _claim_result(report, job, lines=len(segments))
        translated = await api.captions(video_id, job["language"])
        _claim_times(report, job["language"], translated, segments)
        await _claim_files(report, api, video_id, job, translated, segments)
    return len(segments) * len(jobs)


def _claim_result(report: Report, job: dict[str, Any], *, lines: int) -> None:
    engines, via = ROUTES[job["language"]]
    result = job.get("result", {})
    summary = {name: result.get(name) for name in ("engines", "via", "lines", "quality", "flaggedLines")}
    report.claim(
        f"captions in {job['language']}: the job's result",
        expected=f"ready, {engines} via {via}, {lines} lines, quality and flags",
        measured=f"{job['status']}, {summary}",
        holds=job["status"] == "ready"
        and (summary["engines"], summary["via"], summary["lines"]) == (engines, via, lines)
        and summary["quality"] in {"publishable", "review", "draft"}
        and summary["flaggedLines"] == len(result["flagged"]),
    )


def _claim_times(
    report: Report, language: str, translated: Sequence[dict[str, Any]], segments: Sequence[TranscriptSegment]
) -> None:
    moved = sum(
        (row["start"], row["end"], row["speaker"]) != (segment.start_seconds, segment.end_seconds, segment.speaker)
        for row, segment in zip(translated, segments, strict=False)
    )
    empty = sum(not row["text"].strip() for row in translated)
    report.claim(
        f"captions in {language}: lines, lines with other times than the transcript, empty lines",
        expected=f"{len(segments)}, 0, 0",
        measured=f"{len(translated)}, {moved}, {empty}",
        holds=len(translated) == len(segments) and moved == empty == 0,
    )


async def _claim_files(
    report: Report,
    api: CaptionsClient,
    video_id: str,
    job: dict[str, Any],
    translated: Sequence[dict[str, Any]],
    segments: Sequence[TranscriptSegment],
) -> None:
    language = job["language"]
    files = await download(api.client, video_id, language=language)
    parsed = files.parse_all()
    shown = parsed["pysubs2, srt"]
    others = [name for name, each in parsed.items() if not agree(shown, each)]
    cues = cues_of(files.vtt)
    captions = [replace(segment, text=row["text"]) for segment, row in zip(segments, translated, strict=True)]
    found = find_violations(shown, cues, segments=captions, language=language)
    forced, unforced = [each for each in found if each.reason], [each for each in found if not each.reason]
    for each in found:
        text = " / ".join(shown[each.cue].lines) if each.cue < len(shown) else ""
        report.note(
            f"{language}, cue {each.cue + 1}, {each.rule} ({each.detail}): {each.reason or 'NO REASON'}: {text}"
        )
    report.claim(
        f"subtitles in {language}: parsers that disagree, avoidable rule violations",
        expected="none, none",
        measured=f"{', '.join(others) or 'none'}, {count_by_rule(unforced)} in {len(cues)} cues; "
        f"forced: {count_by_rule(forced)}",
        holds=bool(cues) and not others and not unforced,
    )


async def _prove_numbers(report: Report, api: CaptionsClient, video_id: str, sources: Sequence[str]) -> tuple[int, int]:
    """Every number and address is in the translation or its line is flagged; returns lines and unflagged losses."""
    jobs = await api.make_captions(video_id, list(ROUTES))
    missed = 0
    for job in jobs:
        translated = [row["text"] for row in await api.captions(video_id, job["language"])]
        missing = find_missing(sources, translated)
        flagged = {each["line"]: each for each in job["result"]["flagged"]}
        unflagged = [each for each in missing if each.line not in flagged]
        for each in unflagged:
            report.note(f"not flagged in {job['language']}: {each.source} -> {each.translation}: {each.values}")
        accurate = all(
            each["source"] == sources[line] and each["translation"] == translated[line]
            for line, each in flagged.items()
        )
        report.claim(
            f"unflagged lines with lost numbers in {job['language']}",
            expected="0, and flags quote source and translation",
            measured=f"{len(unflagged)} of {len(missing)} in {len(translated)}, {len(flagged)} flagged",
            holds=len(translated) == len(sources) and not unflagged and accurate,
        )
        missed += len(unflagged)
    return len(sources) * len(jobs), missed


if __name__ == "__main__":
    needs = Needs(model_set="ci", programs=("ffmpeg", "apertium"))
    sys.exit(prove("Captions", proof, needs=needs))
