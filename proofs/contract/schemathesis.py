"""Runs Schemathesis on the whole OpenAPI document, with ids of resources in every state, and along its links."""

import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proofs.contract.samples import UNREADY_VOICE
from proofs.contract.stage import OWNER, Stage

SHORT_EXAMPLES, LONG_EXAMPLES = 3, 40  # generated requests per operation, besides examples and boundary values
SHORT_CHAINS, LONG_CHAINS = 40, 400
SHORT_STEPS, LONG_STEPS = 4, 8
SHORT_SEED = 20261115
DELETABLE = 12  # of each kind
REQUEST_SECONDS = 60
HOOKS = Path(__file__).with_name("hooks.py")
# Rules that the schema cannot express: a request that matches the schema may still be rejected with 400.
EXTRA_RULES = {
    "listVideos": "a page token is opaque",
    "listTrash": "a page token is opaque",
    "searchVoices": "a page token is opaque",
    "listAuditLog": "a page token is opaque, times must exist in UTC",
    "exportAuditLog": "times must exist in UTC",
    "listOutputCopies": "a page token is opaque",
    "listWebhookDeliveries": "a page token is opaque",
    "listRevisions": "a page token is opaque",
    "editTranscript": "segments exist, and times fit their neighbors",
    "undoEdit": "names of unknown fields contain no NUL character",
    "redoEdit": "names of unknown fields contain no NUL character",
    "importTranscript": "the content is of its format, and is what is said in the recording",
    "editOptimizedTranscript": "segments exist",
    "importCaptions": "the content is of its format, and has cues",
    "recognizeTranscript": "the language can be recognized",
    "restoreRevision": "names of unknown fields contain no NUL character",
    "listSegments": "the dub is finished",
    "editSegments": "the dub is finished, lines exist, and times fit their neighbors",
    "previewSegment": "the dub is finished, and the voice speaks its language",
    "getSegmentPreview": "the dub is finished",
    "listSegmentWordings": "the dub is finished",
    "quoteRegeneration": "the dub is finished, and lines exist",
    "regenerate": "the dub is finished, lines exist and are outdated",
    "recoverWebhookDeliveries": "times must exist in UTC",
    "listEvents": "a cursor is opaque, and names of types are separated by commas",
    "streamEvents": "a cursor is opaque, and names of types are separated by commas",
    "retryOutputCopy": "a pending copy cannot be retried",
    "setDestination": "the store must be public, and accept a test",
    "eraseLibrary": "the id of the library must be given",
    "createVideo": "URLs must match their provider, file names must not contain a path",
    "createFolder": "names may be reserved or blank, nesting is limited",
    "createUpload": "file names must not contain a path, MIME types must be valid",
    "createGlossaryTerm": "a term has letters, and a translation, a pronunciation or `keep`",
    "updateGlossaryTerm": "a term has letters, and a translation, a pronunciation or `keep`",
    "importGlossary": "the file is CSV in the format of the export",
    "listGlossaryTerms": "a page token is opaque",
    "createReviewLink": "a link has one time of expiry, within 90 days, and a label without control characters",
    "createReviewComment": "texts must not be blank, or contain control characters",
    "updateReviewComment": "texts must not be blank, and only their author changes them",
    "listReviewComments": "a page token is opaque",
    "createCastMember": "names have letters, and voices exist",
    "updateCastMember": "names have letters, and voices exist",
    "listCastMembers": "a page token is opaque",
    "listCastAppearances": "a page token is opaque",
    "runCastRecognition": "a folder must exist",
    "createWebhookEndpoint": "the destination must be public",
    "updateVideo": "titles and labels must not be blank",
    "updateFolder": "names may be reserved or blank, a folder cannot be moved into itself, nesting is limited",
    "updateCharacter": "names must not be blank",
    "updateBrandVoice": "names and guidelines must not be blank",
    "updateWebhookEndpoint": "the destination must be public",
    "updateVoice": "names must not be blank, unknown fields change nothing",
    "createDubs": "languages must be unique ignoring case, and supported by a TTS engine",
    "createCaptions": "languages must be unique ignoring case, and supported by a translator",
    "createShorts": "minDuration must not exceed maxDuration",
    "getShorts": "a failed request returns 422",
    "createThumbnail": "modes and pipelines exclude each other's fields",
    "createPackaging": "at least one automation, in either of two places",
    "reviewPackaging": "only detected items can be selected",
    "createDownload": "a language video needs its language",
    "activateHosting": "a file must exist",
    "quote": "languages must be unique ignoring case",
    "reserve": "at least one billable action",
    "addVoice": "a recording must be given",
    "createLibraryExport": "a library has one unfinished export at a time",
    "speak": "text must contain words, models and languages must be known",
    "stream": "text must contain words, models and languages must be known",
    "getSubtitles": "the language tag must be valid",
}
ACCEPTED = [200, 201, 202, 204, 400, 401, 403, 404, 409, 422, 429]
_LINKS = re.compile(r"API Links:\s+(\d+) covered / (\d+)")


@dataclass(frozen=True, slots=True)
class SchemathesisResult:
    """Failures and statistics of a run."""

    failures: Sequence[str]
    notes: Sequence[str]  # how to reproduce each
    cases: int
    operations: int
    links: str  # followed, of all


async def run_schemathesis(stage: Stage, *, short: bool) -> SchemathesisResult:
    """Run all phases with valid and invalid data under every check."""
    with TemporaryDirectory() as folder:
        config, result = Path(folder) / "schemathesis.toml", Path(folder) / "report.json"
        config.write_text("\n".join(await _configuration(stage, short=short)) + "\n")
        command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config)]
        command += ["run", f"{stage.url}/v1/openapi.json", "--report-json-path", str(result), "--no-color"]
        if short:
            command += ["--seed", str(SHORT_SEED), "--generation-deterministic"]
        running = await asyncio.create_subprocess_exec(
            *command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        output = (await running.communicate())[0].decode()
        if not result.exists():
            raise RuntimeError(f"Schemathesis did not run:\n{output[-4000:]}")
        return _parse_report(json.loads(result.read_text()), output)


def _parse_report(report: Mapping[str, Any], output: str) -> SchemathesisResult:
    failures = [
        f"{failure['title']}: {operation}" for failure in report["failures"] for operation in failure["operations"]
    ]
    if not report["complete"]:
        failures.append(f"it stopped: {report['stop_reason']}")
    if (report["exit_code"] and not failures) or report["test_cases"]["errored"] or report["operations"]["errored"]:
        failures.append(f"errors:\n{output[-4000:]}")
    links = _LINKS.search(output)
    return SchemathesisResult(
        failures=failures,
        notes=[output[output.find("= FAILURES =") :][:20_000]] if failures else [],
        cases=report["test_cases"]["generated"],
        operations=report["operations"]["tested"],
        links=f"{links[1]} of {links[2]}" if links else "none",
    )


async def _configuration(stage: Stage, *, short: bool) -> list[str]:
    owner, states = stage.callers[OWNER], stage.states
    ids_by_name: dict[str, list[str]] = {}
    for ids in (owner.ids, *states.values()):
        for name, value in ids.items():
            if name != "libraryId":  # not a path parameter
                ids_by_name.setdefault(name, []).append(value)
    lines = [
        f"hooks = {json.dumps(str(HOOKS))}",
        "continue-on-failure = true",
        f"request-timeout = {REQUEST_SECONDS}",
        "[headers]",
        f'Authorization = "{owner.headers["Authorization"]}"',
        "[generation]",
        f"max-examples = {SHORT_EXAMPLES if short else LONG_EXAMPLES}",
        'database = "none"',
        "[phases.stateful]",
        f"max-steps = {SHORT_STEPS if short else LONG_STEPS}",
        *(["inference.algorithms = []"] if short else []),  # only the document's own links
        'generation.mode = "positive"',  # a rejected request ends a chain
        f"generation.max-examples = {SHORT_CHAINS if short else LONG_CHAINS}",
    ]
    for name, values in ids_by_name.items():
        lines += [f"[dictionaries.{name}]", f"values = {json.dumps(sorted(set(values)))}"]
    lines += ["[parameters]", *(f'"path.{name}" = {{ dictionary = "{name}" }}' for name in ids_by_name)]
    return [*lines, *_rules(stage), *await _dedicated_ids(stage)]


def _rules(stage: Stage) -> list[str]:
    """Accepted statuses of operations with extra rules."""
    lines: list[str] = []
    for operation in EXTRA_RULES:
        lines += ["[[operations]]", f'include-operation-id = "{operation}"']
        lines += [f"checks.positive_data_acceptance.expected-statuses = {ACCEPTED}"]
        if operation in {"speak", "stream"}:  # with a voice that is not ready, because no worker runs
            lines.append(f'parameters = {{ "path.voice_id" = "{stage.states[UNREADY_VOICE]["voice_id"]}" }}')
            lines.append("phases.stateful.enabled = false")
    return lines


async def _dedicated_ids(stage: Stage) -> list[str]:
    """Ids that belong together, and resources that may be deleted."""
    dubbed = [stage.states[word] for word in ("a ready dub", "a preview", "a failed dub")]
    deletable = {
        "deleteVoice": ("voice_id", [await stage.rows.voice("ready") for _ in range(DELETABLE)]),
        "deleteVideo": ("videoId", [await stage.rows.video() for _ in range(DELETABLE)]),
        "deleteFolder": ("folderId", [await stage.rows.folder() for _ in range(DELETABLE)]),
        "deleteCharacter": ("characterId", [await stage.rows.character() for _ in range(DELETABLE)]),
        "deleteLibraryExport": ("exportId", [await stage.rows.failed_export() for _ in range(DELETABLE)]),
        "deleteGlossaryTerm": ("termId", [await stage.rows.glossary_term() for _ in range(DELETABLE)]),
        "deleteCastMember": ("memberId", [await stage.rows.cast_member() for _ in range(DELETABLE)]),
        "deleteBrandVoice": ("brandVoiceId", [await stage.rows.brand_voice() for _ in range(DELETABLE)]),
    }
    return [
        "[dictionaries.dubbed]",
        f"values = {json.dumps([ids['lang'] for ids in dubbed])}",
        "[[operations]]",
        'include-operation-id = "getDub"',
        f'parameters = {{ "path.videoId" = "{dubbed[0]["videoId"]}", "path.lang" = {{ dictionary = "dubbed" }} }}',
        *(line for operation, (name, values) in deletable.items() for line in _deleting(operation, name, values)),
    ]


def _deleting(operation: str, name: str, values: Sequence[str]) -> list[str]:
    """Give a delete operation ids of its own, because other operations need theirs."""
    return [
        f"[dictionaries.{operation}]",
        f"values = {json.dumps(list(values))}",
        "[[operations]]",
        f'include-operation-id = "{operation}"',
        f'parameters = {{ "path.{name}" = {{ dictionary = "{operation}" }} }}',
    ]
