"""Checks promises about request fields on the running service: at their limits, just beyond them, and omitted."""

import copy
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cutroom.products.shorts.rules import parse_options as shorts_of
from cutroom.products.thumbnails.rules import parse_options as thumbnail_of
from proofs.contract.samples import SAMPLES, UNREADY_VOICE, Sample, fill_placeholders, ids_of, send
from proofs.contract.stage import ApiResponse, Stage
from tests.contract.promises import Promise

LANGUAGES = ("pt", "de", "es", "fr")  # published by the stage
URL = "https://images.example.com/one.png"
WRONG: dict[str, Any] = {
    "string": 7,
    "integer": "some",
    "number": "some",
    "boolean": "perhaps",
    "array": "some",
    "object": "some",
    "uri": 7,
    "language": "no language",
    "date-time": "yesterday",
}
NONSENSE = "nonsense"
HALF = 0.5
_ID = re.compile(r"[0-9a-z]{26}")
_TOKEN = re.compile(r"/(?:fl|pb)_[0-9a-f]+/")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A value for the field, and whether it must be accepted."""

    value: Any
    accepted: bool
    description: str


def steps_of(path: str) -> list[str]:
    """The steps of a field path; map values are keyed by a language."""
    return re.findall(r"\[\]|[^.\[\]]+", path.replace("{}", ".pt"))


def attempts_for(expected: str, field: str) -> Iterator[Attempt]:
    """Values to send, derived from the promise."""
    type_, _, rest = expected.partition(" ")
    yield Attempt(WRONG[type_], accepted=False, description=f"not a {type_}")
    if "nullable" in rest.split():
        yield Attempt(None, accepted=True, description="null, which means absent")
    for bound in re.finditer(r"(at least|at most|above) ([\d.]+)", rest):
        edge, word = float(bound[2]), bound[1]
        if word == "above":
            yield Attempt(edge, accepted=False, description=f"not {word} {edge:g}")
            yield Attempt(edge + HALF, accepted=True, description=f"{word} {edge:g}")
            continue
        over = edge - 1 if word == "at least" else edge + 1
        yield Attempt(_sized(type_, field, edge), accepted=True, description=f"{word} {edge:g}, at the limit")
        if over >= 0 or type_ in {"integer", "number"}:
            yield Attempt(_sized(type_, field, over), accepted=False, description=f"{word} {edge:g}, beyond the limit")
    if found := re.search(r"one of (\S+)", rest):
        for value in found[1].split("|"):
            yield Attempt(
                int(value) if type_ == "integer" else value, accepted=True, description=f"allowed value {value}"
            )
        yield Attempt(99 if type_ == "integer" else NONSENSE, accepted=False, description="unknown value")
    if "unique" in rest.split():
        yield Attempt(["pt", "pt"], accepted=False, description="duplicate")
        yield Attempt(["pt", "PT"], accepted=False, description="duplicate in another case")


def _sized(type_: str, field: str, size: float) -> Any:  # noqa: ANN401 (any JSON value)
    """A number, a string of `size` characters, or a list of `size` items."""
    if type_ in {"integer", "number"}:
        return int(size) if type_ == "integer" or size == int(size) else size
    if type_ == "array":
        return [_item(field, number) for number in range(int(size))]
    return "x" * int(size)


def _item(field: str, number: int) -> Any:  # noqa: ANN401 (any JSON value)
    if "anguage" in field:
        return LANGUAGES[number]
    if field.lower().endswith("urls"):
        return f"{URL}?{number}"
    if field.endswith("characters"):
        return {"name": f"Person {number}"}
    return f"item{number}"


async def check_request_field(stage: Stage, promise: Promise) -> str | None:
    """How the service breaks a promise about a request field; None if it keeps it."""
    kind, _, field = promise.aspect.partition(" ")
    operation, sample = promise.operation, _sample_for(promise.operation, kind)
    steps = steps_of(field)
    for attempt in attempts_for(promise.expected, field):
        body = with_value(sample.body, steps, attempt.value)
        _adjust_siblings(body, steps, attempt.value)
        response = await send(stage, operation, sample, body=body)
        if violation := _check_attempt(response, steps, attempt):
            return violation
    if "required" in promise.expected.split():
        response = await send(stage, operation, sample, body=without_value(sample.body, steps))
        if violation := _check_attempt(response, steps, Attempt(None, accepted=False, description="omitted")):
            return violation
    if found := re.search(r"default (\S+)", promise.expected):
        return await _check_default(stage, operation, sample, steps, _typed(promise.expected, found[1]))
    return None


def _sample_for(operation: str, kind: str) -> Sample:
    """The sample of the body variant that the promise is about."""
    samples = SAMPLES[operation]
    if operation.startswith("POST /text-to-speech"):
        return Sample(samples[0].body, of=UNREADY_VOICE)
    if found := re.fullmatch(r"request\((.+)=(.+)\)", kind):
        names, value = found[1].split("."), found[2]
        for sample in samples:
            inside = sample.body
            for name in names[:-1]:
                inside = inside[name]
            if inside.get(names[-1]) == value:
                return sample
        raise LookupError(f"no sample of {operation} with {kind}")
    return samples[0]


def _adjust_siblings(body: Any, steps: list[str], value: Any) -> None:  # noqa: ANN401 (any JSON value)
    """Change other fields that must match the value, so that nothing else is invalid."""
    if steps[-1] == "characterCount" and isinstance(value, int) and len(steps) > 1:
        inside = body
        for step in steps[:-1]:
            inside = inside[step] if step != "[]" else inside[0]
        if "characters" in inside:
            inside["characters"] = [{"name": "Ana"}] * max(value, 0)
        inside.pop("autoDetectContentMoments", None)  # of the pipeline that has no characters
    if steps == ["prompt"] and value is None:
        body["mode"] = "zero_prompt"  # the mode that needs no prompt


def _check_attempt(response: ApiResponse, steps: list[str], attempt: Attempt) -> str | None:
    field = ".".join("0" if step == "[]" else step for step in steps)
    # The error may name the field or an item in it.
    named = [path for path in response.fields if path == field or path.startswith(f"{field}.")]
    refused = response.code == "INVALID_ARGUMENT" and bool(named)
    if response.status >= 500:
        return f"{attempt.description}: {response}"
    if refused == attempt.accepted:
        outcome = "rejected" if refused else "accepted"
        return f"{attempt.description} ({str(attempt.value)[:40]!r}) was {outcome}: {response}"
    return None


def with_value(body: Any, steps: list[str], value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """A copy of the body with a value at one path; missing parents are created."""
    changed = copy.deepcopy(body) if body is not None else {}
    inside = changed
    for step, following in itertools.pairwise(steps):
        inside = _inside(inside, step, following)
    if steps[-1] == "[]":
        inside[:] = [value]
    else:
        inside[steps[-1]] = value
    return changed


def _inside(body: Any, step: str, following: str) -> Any:  # noqa: ANN401 (any JSON value)
    if step == "[]":
        if not body:
            body.append({})
        return body[0]
    if not isinstance(body.get(step), dict | list):
        body[step] = [] if following == "[]" else {}
    return body[step]


def without_value(body: Any, steps: list[str]) -> Any:  # noqa: ANN401 (any JSON value)
    changed = with_value(body, steps, None)
    inside = changed
    for step in steps[:-1]:
        inside = inside[0] if step == "[]" else inside[step]
    del inside[steps[-1]]
    return changed


def _typed(expected: str, text: str) -> Any:  # noqa: ANN401 (any JSON value)
    type_ = expected.split(maxsplit=1)[0]
    if type_ == "boolean":
        return text == "True"
    return float(text) if type_ == "number" else int(text) if type_ == "integer" else text


async def _check_default(
    stage: Stage,
    operation: str,
    sample: Sample,
    steps: list[str],
    default: Any,  # noqa: ANN401 (any JSON value)
) -> str | None:
    """Omitting the field must have the same effect as sending its default."""
    without = await _effect(stage, operation, sample, without_value(sample.body, steps))
    sent = await _effect(stage, operation, sample, with_value(sample.body, steps, default))
    return None if without == sent else f"omitted: {without}; {default}: {sent}"


async def _effect(stage: Stage, operation: str, sample: Sample, body: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """The effect of a request: its priced lines, or the plans of its jobs."""
    ids = await ids_of(stage, sample)
    if "{videoId}" in operation and not sample.fresh and sample.of is None:
        ids = {"videoId": await stage.rows.video()}
    response = await stage.call(operation, fill_placeholders(body), ids=ids)
    if response.status >= 300:
        return response.status if sample.of == UNREADY_VOICE else str(response)
    created = response.document
    lines = created.get("breakdown") or created.get("lineItems")
    if lines is not None:
        return [{name: value for name, value in line.items() if name != "lineItemId"} for line in lines]
    if "voice_id" in created:
        noise = "SELECT remove_noise FROM voices WHERE id = $1"
        return await stage.accounts.connection.fetchval(noise, created["voice_id"])
    job_ids = [job["id"] for job in created["jobs"]] if "jobs" in created else [created["jobId"]]
    rows = await stage.accounts.connection.fetch(
        "SELECT type, plan FROM jobs WHERE id = ANY($1) ORDER BY type, automation_type", job_ids
    )
    file_name = await stage.accounts.connection.fetchval(
        "SELECT file_name FROM sources WHERE video_id = $1", created.get("videoId", "")
    )
    return [_ID.sub("*", str(each)) for each in (file_name, *(_meaning(row["type"], row["plan"]) for row in rows))]


def _meaning(type_: str, plan: Mapping[str, Any]) -> object:
    """A plan as parsed by its workflow, with defaults filled in."""
    if type_ == "shorts":
        return shorts_of(plan)
    return thumbnail_of(plan) if type_ == "thumbnail" or plan.get("mode") == "zero_prompt" else plan


async def check_query(stage: Stage, promise: Promise) -> str | None:
    """How the service breaks a promise about a query parameter; None if it keeps it."""
    name = promise.aspect.partition(" ")[2]
    type_, _, rest = promise.expected.partition(" ")
    sample = SAMPLES[promise.operation][0]
    for attempt in attempts_for(promise.expected, name):
        if type_ == "string" and attempt.value == WRONG["string"]:
            continue  # everything in a query is a string
        response = await send(stage, promise.operation, Sample(of=sample.of, query={name: attempt.value}))
        if violation := _check_attempt(response, [name], attempt):
            return violation
    if found := re.search(r"default (\S+)", rest):
        without = await send(stage, promise.operation, Sample(of=sample.of))
        sent = await send(stage, promise.operation, Sample(of=sample.of, query={name: found[1]}))
        if _without_signatures(without.document) != _without_signatures(sent.document):
            return f"omitted: {without}; sent: {sent}"
    return None


def _without_signatures(document: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """A document without page tokens and URL signatures, which differ each time."""
    if isinstance(document, dict):
        return {name: _without_signatures(value) for name, value in document.items() if name != "nextPageToken"}
    if isinstance(document, list):
        return [_without_signatures(each) for each in document]
    return _TOKEN.sub("/", document.partition("?")[0]) if isinstance(document, str) else document
