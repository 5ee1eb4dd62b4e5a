"""Validation: impossible work is refused or ends uncharged, null is absent, tags ignore case, and errors are plain."""

import asyncio
import time
from typing import Any

import numpy as np

from cutroom.engines.types import SAMPLE_RATE
from proofs.repairs.stage import RepairsStage, Rows
from proofs.stage.recorded_speech import make_speech
from proofs.stage.transcript_stage import write_wav
from tests.support.internal_names import INTERNAL_NAMES
from tests.support.stage import upload

SPEECH_SECONDS, SPEECH_SEED = 8.0, 4
SILENT_SECONDS = 4
POLL_SECONDS = 0.3
WAIT_SECONDS = 300
NO_ROUTE = "tlh"  # no installation translates into it
SAME_LANGUAGE = "This is the language of the video."
# One misspelt field for each creation that spends credits, with the field it stands for.
TYPOS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("quote", {"captionLanguages": ["es"]}, "captionLanguageCodes"),
    ("reservations", {"transcriptsOnly": True}, "transcriptOnly"),
    ("dubs", {"languages": ["es"], "prodct": "premium"}, "product"),
    ("captions", {"languages": ["es"], "reservatonId": "x"}, "reservationId"),
    ("shorts", {"numClip": 1}, "numClips"),
    ("thumbnails", {"prompt": "A lens", "pipelinMode": "thumbnail-precision"}, "pipelineMode"),
    ("packaging", {"generateTitel": {"enabled": True, "titleType": "funny"}}, "generateTitle"),
)
# Optional fields that are sent as null, by the path of the operation.
NULLS: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    (
        "quote",
        {},
        ("durationSeconds", "dubs", "captionLanguageCodes", "transcriptOnly", "shorts", "zeroPromptThumbnail"),
    ),
    ("captions", {"languages": []}, ("reservationId", "reservationLineItemIdByLanguage")),
    ("downloads", {"artifact": "source"}, ("language",)),
)
HOSTILE: tuple[Any, ...] = (7, True, None, [None], "x" * 5_000, {"deeper": []})
PATHS = ("quote", "reservations", "dubs", "captions", "shorts", "thumbnails", "packaging", "downloads")


async def check(stage: RepairsStage, rows: Rows) -> None:
    await _check_impossible_work(stage, rows)
    await _check_nulls(stage, rows)
    await _check_languages(stage, rows)
    await _check_hosting(stage, rows)
    await _check_messages(stage, rows)
    await _check_unknown_fields(stage, rows)


async def _check_impossible_work(stage: RepairsStage, rows: Rows) -> None:
    """Asked for before the language is known: in a recipe, and by a request right after the upload."""
    speech = write_wav(stage.folder / "short.wav", make_speech(SPEECH_SECONDS, seed=SPEECH_SEED).samples)
    silence = write_wav(stage.folder / "silent.wav", np.zeros(SILENT_SECONDS * SAMPLE_RATE, np.float32))
    recipe = {"dubs": [{"languages": ["en"]}]}
    spoken = await upload(stage.client, speech, file_name="short.wav", products=recipe)
    silent = await upload(stage.client, silence, file_name="silent.wav")
    asked = await stage.client.post(f"/v1/videos/{silent}/captions", json={"languages": ["es"]})
    job_ids = [f"dub_{spoken}_en_plus", f"captions_{silent}_es"]
    jobs = [await _ended(stage, job_id) for job_id in job_ids]
    errors = [(job["error"]["code"], job["error"]["details"].get("reason")) for job in jobs]
    rows.check(
        4,
        "work that turns out to be impossible ends with its own code and reason",
        expected="202, FAILED_PRECONDITION: same_language, no_speech",
        measured=[asked.status_code, *errors],
        holds=[asked.status_code, *errors]
        == [202, ("FAILED_PRECONDITION", "same_language"), ("FAILED_PRECONDITION", "no_speech")],
    )
    lines = await stage.connection.fetchval("SELECT count(*) FROM escrow_lines WHERE holder = ANY($1)", job_ids)
    held = [job["result"]["receipt"]["held"] for job in jobs]
    rows.check(
        4,
        "and nothing was charged for it",
        expected="no credits in the receipts, no lines in escrow",
        measured=f"{held} credits, {lines} lines",
        holds=held == [0, 0] and lines == 0,
    )
    refused = await stage.client.post(f"/v1/videos/{silent}/dubs", json={"languages": ["es"]})
    error = refused.json()["error"]
    rows.check(
        4,
        "work known to be impossible is refused with the reason",
        expected="409 no_speech",
        measured=f"{refused.status_code} {error['details'].get('reason')}: {error['message']}",
        holds=(refused.status_code, error["details"].get("reason")) == (409, "no_speech"),
    )


async def _ended(stage: RepairsStage, job_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        job: dict[str, Any] = (await stage.client.get(f"/v1/jobs/{job_id}")).json()
        if job.get("status") in {"ready", "failed"}:
            return {"error": {"code": "none", "details": {}}, **job}
        if time.monotonic() > deadline:
            raise TimeoutError(f"{job_id}: {job}")
        await asyncio.sleep(POLL_SECONDS)


async def _check_nulls(stage: RepairsStage, rows: Rows) -> None:
    refused = []
    for path, body, names in NULLS:
        for name in names:
            response = await stage.client.post(f"/v1/videos/{stage.talk}/{path}", json={**body, name: None})
            if response.status_code >= 400:
                refused.append(f"{path}.{name}: {response.status_code}")
    folder = await stage.client.post("/v1/folders", json={"name": "At the root", "parentId": None})
    document = (await stage.client.get("/v1/openapi.json")).json()
    field = document["components"]["schemas"]["NewDubs"]["properties"]["product"]
    documented = {"type": "null"} in field.get("anyOf", ())
    rows.check(
        6,
        "null for an optional field means absent, and OpenAPI says so",
        expected="none refused, documented",
        measured=f"{refused or 'none'} refused, folder {folder.status_code}, documented {documented}",
        holds=not refused and folder.status_code == 201 and documented,
    )


async def _check_languages(stage: RepairsStage, rows: Rows) -> None:
    path = f"/v1/videos/{stage.talk}/dubs"
    details = (await stage.client.post(path, json={"languages": ["EN", NO_ROUTE]})).json()["error"]["details"]
    verdicts = {each["path"]: each["message"] for each in details["fields"]}
    expected = {"languages.0": SAME_LANGUAGE, "languages.1": "There is no translation into this language."}
    rows.check(
        7,
        "every impossible language has its own verdict",
        expected=str(expected),
        measured=verdicts,
        holds=verdicts == expected,
    )
    bundle = {"dubs": [{"languages": details["available"]}]}
    quoted = await stage.client.post(f"/v1/videos/{stage.talk}/quote", json=bundle)
    rows.check(
        7,
        "every language listed as available can be dubbed",
        expected="200, at least one",
        measured=f"{quoted.status_code}, {details['available']}",
        holds=quoted.status_code == 200 and bool(details["available"]),
    )
    made = await stage.client.post(f"/v1/videos/{stage.talk}/captions", json={"languages": ["ES"]})
    job_id = made.json()["jobs"][0]["id"]
    shouted = await stage.client.get(f"/v1/jobs/captions_{stage.talk}_ES")
    rows.check(
        7,
        "language tags of job ids compare without case, and one spelling comes out",
        expected=f"200 captions_{stage.talk}_es",
        measured=f"{shouted.status_code} {shouted.json().get('id')}",
        holds=(shouted.status_code, shouted.json().get("id")) == (200, job_id) and job_id.endswith("_es"),
    )


async def _check_hosting(stage: RepairsStage, rows: Rows) -> None:
    status = (await stage.client.get(f"/v1/videos/{stage.talk}/professional-hosting")).json()
    rows.check(
        9,
        "hosting that cannot be activated has its reason",
        expected="canActivate false with reason and message",
        measured=status,
        holds=status["canActivate"] is False and bool(status.get("reason")) and bool(status.get("message")),
    )


async def _check_messages(stage: RepairsStage, rows: Rows) -> None:
    shown, broken = [], []
    for path in PATHS:
        schema_fields = {name for typo in TYPOS for name in (typo[2], *typo[1])} | {"languages", "artifact", "source"}
        for value in HOSTILE:
            body = dict.fromkeys(schema_fields, value)
            for sent in (value, body):
                response = await stage.client.post(f"/v1/videos/{stage.talk}/{path}", json=sent)
                if response.status_code >= 500:
                    broken.append(f"{path}: {response.status_code}")
                shown.append(response.text)
    named = sorted({found[0] for text in shown if (found := INTERNAL_NAMES.search(text))})
    rows.check(
        9,
        "no internal name reaches a caller who sends hostile bodies",
        expected="no names, no 5xx",
        measured=f"{len(shown)} bodies, names {named or 'none'}, 5xx {broken or 'none'}",
        holds=not named and not broken,
    )


async def _check_unknown_fields(stage: RepairsStage, rows: Rows) -> None:
    wrong = []
    for path, body, meant in TYPOS:
        response = await stage.client.post(f"/v1/videos/{stage.talk}/{path}", json=body)
        messages = [each["message"] for each in response.json().get("error", {}).get("details", {}).get("fields", ())]
        if response.status_code != 400 or f"Unknown field. Did you mean `{meant}`?" not in messages:
            wrong.append(f"{path}: {response.status_code} {messages}")
    sibling = {"shorts": {"kind": "promo", "numClips": 2}}
    tolerant = await stage.client.post(f"/v1/videos/{stage.talk}/quote", json=sibling)
    wrong += [f"sibling: {tolerant.text}"] if tolerant.status_code == 400 else []
    rows.check(
        11,
        "a misspelt field is refused where credits are spent, naming the field that was meant",
        expected="400 for each, siblings accepted",
        measured=wrong or f"{len(TYPOS)} refused, siblings accepted",
        holds=not wrong,
    )
