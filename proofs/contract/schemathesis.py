"""Schemathesis over the whole document, with things in every state behind its ids, and along its links."""

import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proofs.contract.samples import SILENT
from proofs.contract.stage import OWNER, Stage

SHORT_EXAMPLES, LONG_EXAMPLES = 3, 40  # generated requests for each operation, beside examples and edges
SHORT_CHAINS, LONG_CHAINS = 40, 400
SHORT_STEPS, LONG_STEPS = 4, 8
SHORT_SEED = 20261115
VICTIMS = 12
REQUEST_SECONDS = 60
HOOKS = Path(__file__).with_name("hooks.py")
# Rules that a schema does not tell: whoever keeps to the schema may still be told 400, with the field to change.
RULED = {
    "listVideos": "a page token is opaque",
    "searchVoices": "a page token is opaque",
    "createVideo": "URLs belong to their provider, file names hold no path",
    "createFolder": "a name is reserved, blanks are no name, nesting ends",
    "createUpload": "file names hold no path, MIME types have a form",
    "createWebhookEndpoint": "a destination is public",
    "createDubs": "languages are unique whatever their case, and must be spoken by the engines",
    "createCaptions": "languages are unique whatever their case, and must be known to the engines",
    "createShorts": "the shortest is no longer than the longest",
    "getShorts": "a request that failed is told with 422",
    "createThumbnail": "modes and pipelines exclude each other's fields",
    "createPackaging": "at least one automation, in one of two places",
    "reviewPackaging": "only what was detected can be picked",
    "createDownload": "a language video needs its language",
    "activateHosting": "a file has to be there",
    "quote": "languages are unique whatever their case",
    "reserve": "at least one billable action",
    "addVoice": "a recording has to be there",
    "speak": "text has words, models and languages are known",
    "stream": "text has words, models and languages are known",
    "getSubtitles": "a language has to be one",
}
ACCEPTED = [200, 201, 202, 204, 400, 401, 403, 404, 409, 422, 429]
_LINKS = re.compile(r"API Links:\s+(\d+) covered / (\d+)")


@dataclass(frozen=True, slots=True)
class Found:
    """What came of it."""

    failures: Sequence[str]
    notes: Sequence[str]  # how to see each again
    cases: int
    operations: int
    links: str  # how many were followed


async def run_schemathesis(stage: Stage, *, short: bool) -> Found:
    """Examples, edges, generated requests and chains of them, right and wrong ones, under every check."""
    with TemporaryDirectory() as folder:
        config, told = Path(folder) / "schemathesis.toml", Path(folder) / "report.json"
        config.write_text("\n".join(await _configured(stage, short=short)) + "\n")
        command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config)]
        command += ["run", f"{stage.url}/v1/openapi.json", "--report-json-path", str(told), "--no-color"]
        if short:
            command += ["--seed", str(SHORT_SEED), "--generation-deterministic"]
        running = await asyncio.create_subprocess_exec(
            *command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        output = (await running.communicate())[0].decode()
        if not told.exists():
            raise RuntimeError(f"Schemathesis did not run:\n{output[-4000:]}")
        return _found(json.loads(told.read_text()), output)


def _found(report: Mapping[str, Any], output: str) -> Found:
    failures = [
        f"{failure['title']}: {operation}" for failure in report["failures"] for operation in failure["operations"]
    ]
    if not report["complete"]:
        failures.append(f"it stopped: {report['stop_reason']}")
    if (report["exit_code"] and not failures) or report["test_cases"]["errored"] or report["operations"]["errored"]:
        failures.append(f"errors:\n{output[-4000:]}")
    links = _LINKS.search(output)
    return Found(
        failures=failures,
        notes=[output[output.find("= FAILURES =") :][:20_000]] if failures else [],
        cases=report["test_cases"]["generated"],
        operations=report["operations"]["tested"],
        links=f"{links[1]} of {links[2]}" if links else "none",
    )


async def _configured(stage: Stage, *, short: bool) -> list[str]:
    owner, states = stage.callers[OWNER], stage.states
    known: dict[str, list[str]] = {}
    for ids in (owner.ids, *states.values()):
        for name, value in ids.items():
            if name != "libraryId":  # no path has it
                known.setdefault(name, []).append(value)
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
        *(["inference.algorithms = []"] if short else []),  # the document's own links, and nothing that is guessed
        'generation.mode = "positive"',  # a chain ends at what is refused
        f"generation.max-examples = {SHORT_CHAINS if short else LONG_CHAINS}",
    ]
    for name, values in known.items():
        lines += [f"[dictionaries.{name}]", f"values = {json.dumps(sorted(set(values)))}"]
    lines += ["[parameters]", *(f'"path.{name}" = {{ dictionary = "{name}" }}' for name in known)]
    return [*lines, *_rules(stage), *await _own_ids(stage)]


def _rules(stage: Stage) -> list[str]:
    """What operations with rules of their own may answer."""
    lines: list[str] = []
    for operation in RULED:
        lines += ["[[operations]]", f'include-operation-id = "{operation}"']
        lines += [f"checks.positive_data_acceptance.expected-statuses = {ACCEPTED}"]
        if operation in {"speak", "stream"}:  # in a voice that is not ready, for nobody reads aloud here
            lines.append(f'parameters = {{ "path.voice_id" = "{stage.states[SILENT]["voice_id"]}" }}')
            lines.append("phases.stateful.enabled = false")
        if operation == "createFolder":  # a chain brings the null of a root folder past the hooks, and it is taken
            lines.append("phases.stateful.checks.negative_data_rejection.enabled = false")
    return lines


async def _own_ids(stage: Stage) -> list[str]:
    """Ids that go together, and those that may be deleted: others look at the rest."""
    dubbed = [stage.states[word] for word in ("a ready dub", "a preview", "a failed dub")]
    victims = [await stage.rows.voice("ready") for _ in range(VICTIMS)]
    return [
        "[dictionaries.dubbed]",
        f"values = {json.dumps([ids['lang'] for ids in dubbed])}",
        "[dictionaries.victims]",
        f"values = {json.dumps(victims)}",
        "[[operations]]",
        'include-operation-id = "getDub"',
        f'parameters = {{ "path.videoId" = "{dubbed[0]["videoId"]}", "path.lang" = {{ dictionary = "dubbed" }} }}',
        "[[operations]]",
        'include-operation-id = "deleteVoice"',
        'parameters = { "path.voice_id" = { dictionary = "victims" } }',
    ]
