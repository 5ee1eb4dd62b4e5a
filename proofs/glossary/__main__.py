"""Glossary: captions have the terms of a library's glossary, or list those that are missing; speakers return.

Everything runs on real engines: those that translate, and those that transcribe, tell speakers apart and dub.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from cutroom.cast.matching import SpeakerVoice
from cutroom.engines.diarization.embeddings import WeSpeakerEmbedder
from proofs.captions.numbers import SECONDS_EACH, as_segments
from proofs.captions.stage import CaptionsClient
from proofs.glossary.cast_claims import claim_cast
from proofs.glossary.expected import TERMS, ExpectedTerm, MarkedSentence, missing_terms, read_sentences, with_folder
from proofs.glossary.returning_speaker import run_series
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs, models_dir
from proofs.stage.subtitle_parsers import ParsedCue, download, with_pysubs2
from proofs.stage.transcript_stage import open_client
from tests.support.stage import open_stage
from tests.support.transcribed_videos import insert_video
from tests.support.voices.returning_voices import EPISODES, embed_episodes

LANGUAGES = ("pt", "es")
ENVIRONMENT = {"CUTROOM_ASR_ENGINES": "whisper-tiny.en"}  # quick to load
MIN_TERMS, MIN_KEPT_SHARE = 60, 0.98
WAIT_SECONDS, POLL_SECONDS = 120, 0.3
Missing = dict[str, list[ExpectedTerm]]  # by language


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    """The short form makes captions without the glossary in one language only, and compares fewer voices."""
    compared = LANGUAGES[:1] if short else LANGUAGES
    sentences = read_sentences()
    with TemporaryDirectory() as name:
        async with (
            open_stage("proof_glossary", Path(name), environment=ENVIRONMENT) as stage,
            open_client(stage) as client,
        ):
            api = CaptionsClient(stage, client)
            await api.grant()
            video_ids = [await _insert_video(api, sentences) for _ in range(2)]
            imported = await _limit_to_folder(client, video_ids[1])
            await _wait_for_translations(client)
            without = await _caption(api, video_ids[0], compared)
            with_glossary = await _caption(api, video_ids[1], LANGUAGES)
            missing_without = await _missing(client, video_ids[0], sentences, compared)
            missing = await _missing(client, video_ids[1], sentences, LANGUAGES)
            with report.timed("episodes with a returning speaker"):
                series = await run_series(stage, client, Path(name))
    said = sum(len(each.terms) for each in sentences)
    _claim_terms(report, imported, sentences)
    shares = [round(1 - sum(map(len, each.values())) / (said * len(each)), 3) for each in (missing, missing_without)]
    report.claim(
        f"share of {said * len(LANGUAGES)} terms whose translation is in the subtitle files, and without the glossary",
        expected=f">= {MIN_KEPT_SHARE}, less",
        measured=f"{shares[0]}, {shares[1]}",
        holds=shares[0] >= MIN_KEPT_SHARE and shares[0] > shares[1],
    )
    unflagged = _claim_flags(report, missing, with_glossary)
    listed = sum(job["result"]["brokenTermCount"] for job in without)
    report.claim("broken terms of a video outside the folder", expected="0", measured=listed, holds=listed == 0)
    with report.timed("returning voices"):
        voices = await asyncio.to_thread(_embed_episodes, episodes=2 if short else EPISODES)
    cast_wrong, cast_trials = claim_cast(report, series, voices)
    report.figures(
        cast_wrong=cast_wrong,
        cast_trials=cast_trials,
        terms=imported["created"],
        violations_unflagged=unflagged,
        kept_share=shares[0],
        kept_share_without=shares[1],
    )


def _embed_episodes(*, episodes: int) -> dict[tuple[str, int], SpeakerVoice]:
    return embed_episodes(WeSpeakerEmbedder(models_dir() / "wespeaker-resnet34"), episodes=episodes)


async def _insert_video(api: CaptionsClient, sentences: Sequence[MarkedSentence]) -> str:
    connection, library_id = api.stage.accounts.connection, api.stage.person.library_id
    video_id = await insert_video(connection, library_id, duration_seconds=len(sentences) * SECONDS_EACH)
    await api.replace_transcript(video_id, as_segments([each.text for each in sentences]))
    return video_id


async def _limit_to_folder(client: httpx.AsyncClient, video_id: str) -> dict[str, Any]:
    """Import the terms for a folder, and move the video there."""
    made = (await client.post("/v1/folders", json={"name": "With a glossary"})).raise_for_status().json()
    imported = await client.post("/v1/glossary/import", json={"csv": with_folder(TERMS.read_text(), made["id"])})
    (await client.patch(f"/v1/videos/{video_id}", json={"folderIds": [made["id"]]})).raise_for_status()
    counts: dict[str, Any] = imported.raise_for_status().json()
    return counts


async def _wait_for_translations(client: httpx.AsyncClient) -> None:
    """Wait until a worker has advertised its routes."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            pairs = (await client.get("/v1/capabilities")).raise_for_status().json()["pairs"]
            if {("en", each) for each in LANGUAGES} <= {(pair["source"], pair["target"]) for pair in pairs}:
                return
            await asyncio.sleep(POLL_SECONDS)


async def _caption(api: CaptionsClient, video_id: str, languages: Sequence[str]) -> list[dict[str, Any]]:
    jobs = await api.make_captions(video_id, languages)
    if failed := [job for job in jobs if job["status"] != "ready"]:
        raise RuntimeError(f"captions failed: {failed}")
    return jobs


async def _missing(
    client: httpx.AsyncClient, video_id: str, sentences: Sequence[MarkedSentence], languages: Sequence[str]
) -> Missing:
    """Expected terms that the subtitle files do not show, by language."""
    found: Missing = {}
    for language in languages:
        cues = with_pysubs2((await download(client, video_id, language=language)).srt)
        shown = [_shown(cues, number) for number in range(len(sentences))]
        found[language] = missing_terms(sentences, shown, language=language)
    return found


def _shown(cues: Sequence[ParsedCue], number: int) -> str:
    """The text of all cues in the time of a sentence."""
    start, end = number * SECONDS_EACH * 1000, (number + 1) * SECONDS_EACH * 1000
    return " ".join(line for cue in cues if start <= cue.start < end for line in cue.lines)


def _claim_terms(report: Report, imported: dict[str, Any], sentences: Sequence[MarkedSentence]) -> None:
    said = {term for each in sentences for term in each.terms}
    report.claim(
        "terms imported, and of these said in the video",
        expected=f">= {MIN_TERMS}, all",
        measured=f"{imported['created']}, {len(said)}",
        holds=imported["created"] >= MIN_TERMS and len(said) == imported["created"],
    )


def _claim_flags(report: Report, missing: Missing, jobs: Sequence[dict[str, Any]]) -> int:
    """Every missing term is listed on its line; returns how many are not."""
    unflagged, listed = 0, 0
    for job in jobs:
        broken = {(each["line"], each["term"]) for each in job["result"]["brokenTerms"]}
        listed += len(broken)
        for each in missing[job["language"]]:
            is_flagged = (each.line, each.term) in broken
            unflagged += not is_flagged
            report.note(f"{job['language']}, {'flagged' if is_flagged else 'NOT FLAGGED'}: {each.term}: {each.shown}")
    report.claim(
        "missing terms that the result does not list as broken",
        expected="0",
        measured=f"{unflagged} of {sum(map(len, missing.values()))} ({listed} listed)",
        holds=unflagged == 0,
    )
    return unflagged


if __name__ == "__main__":
    sys.exit(prove("Glossary", proof, needs=Needs(model_set="ci", programs=("ffmpeg", "apertium"))))
