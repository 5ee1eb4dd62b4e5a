"""A promise about a field of a request, tried on the running service: at its edge, just over it, and left out."""

import copy
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cutroom.products.shorts.rules import parse_options as shorts_of
from cutroom.products.thumbnails.rules import parse_options as thumbnail_of
from proofs.contract.samples import SAMPLES, SILENT, Sample, ids_of, renewed, send
from proofs.contract.stage import Answer, Stage
from tests.contract.promises import Promise

LANGUAGES = ("pt", "de", "es", "fr")  # that the stage tells of
URL = "https://pictures.example.com/one.png"
WRONG: dict[str, Any] = {
    "string": 7,
    "integer": "some",
    "number": "some",
    "boolean": "perhaps",
    "array": "some",
    "object": "some",
    "uri": 7,
    "language": "no language",
}
NONSENSE = "nonsense"
HALF = 0.5
_ID = re.compile(r"[0-9a-z]{26}")


@dataclass(frozen=True, slots=True)
class Trial:
    """A value for the field, and whether it must be taken."""

    value: Any
    taken: bool
    why: str


def steps_of(path: str) -> list[str]:
    """The names on the way; a value of a map is one under some language."""
    return re.findall(r"\[\]|[^.\[\]]+", path.replace("{}", ".pt"))


def trials_of(holds: str, field: str) -> Iterator[Trial]:
    """What to try, by the words of the promise."""
    type_, _, rest = holds.partition(" ")
    yield Trial(WRONG[type_], taken=False, why=f"no {type_}")
    for bound in re.finditer(r"(at least|at most|above) ([\d.]+)", rest):
        edge, word = float(bound[2]), bound[1]
        if word == "above":
            yield Trial(edge, taken=False, why=f"not {word} {edge:g}")
            yield Trial(edge + HALF, taken=True, why=f"{word} {edge:g}")
            continue
        over = edge - 1 if word == "at least" else edge + 1
        yield Trial(_sized(type_, field, edge), taken=True, why=f"{word} {edge:g}, at the edge")
        if over >= 0 or type_ in {"integer", "number"}:
            yield Trial(_sized(type_, field, over), taken=False, why=f"{word} {edge:g}, just over")
    if found := re.search(r"one of (\S+)", rest):
        for value in found[1].split("|"):
            yield Trial(int(value) if type_ == "integer" else value, taken=True, why=f"one of them: {value}")
        yield Trial(99 if type_ == "integer" else NONSENSE, taken=False, why="none of them")
    if "unique" in rest.split():
        yield Trial(["pt", "pt"], taken=False, why="twice the same")
        yield Trial(["pt", "PT"], taken=False, why="twice the same, spelt otherwise")


def _sized(type_: str, field: str, size: float) -> Any:  # noqa: ANN401 (any JSON value)
    """A value of this size: a number, so many characters, or so many items."""
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
        return {"name": f"Somebody {number}"}
    return f"item{number}"


async def fault_of_field(stage: Stage, promise: Promise) -> str | None:
    """What of a promise about a request's field does not hold."""
    kind, _, field = promise.part.partition(" ")
    operation, sample = promise.operation, _sample_for(promise.operation, kind)
    steps = steps_of(field)
    for trial in trials_of(promise.holds, field):
        body = with_value(sample.body, steps, trial.value)
        _accompany(body, steps, trial.value)
        answer = await send(stage, operation, sample, body=body)
        if fault := _fault(answer, steps, trial):
            return fault
    if "required" in promise.holds.split():
        answer = await send(stage, operation, sample, body=without_value(sample.body, steps))
        if fault := _fault(answer, steps, Trial(None, taken=False, why="left out")):
            return fault
    if found := re.search(r"default (\S+)", promise.holds):
        return await _fault_of_default(stage, operation, sample, steps, _typed(promise.holds, found[1]))
    return None


def _sample_for(operation: str, kind: str) -> Sample:
    """The sample of the variant that the promise is about."""
    samples = SAMPLES[operation]
    if operation.startswith("POST /text-to-speech"):
        return Sample(samples[0].body, of=SILENT)
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


def _accompany(body: Any, steps: list[str], value: Any) -> None:  # noqa: ANN401 (any JSON value)
    """What a value needs beside it, lest something else be wrong with the request."""
    if steps[-1] == "characterCount" and isinstance(value, int) and len(steps) > 1:
        inside = body
        for step in steps[:-1]:
            inside = inside[step] if step != "[]" else inside[0]
        if "characters" in inside:
            inside["characters"] = [{"name": "Ana"}] * max(value, 0)


def _fault(answer: Answer, steps: list[str], trial: Trial) -> str | None:
    wanted = ".".join("0" if step == "[]" else step for step in steps)
    # A fault is told of the field, or of the item in it.
    named = [path for path in answer.fields if path == wanted or path.startswith(f"{wanted}.")]
    refused = answer.code == "INVALID_ARGUMENT" and bool(named)
    if answer.status >= 500:
        return f"{trial.why}: {answer}"
    if refused == trial.taken:
        return f"{trial.why} ({str(trial.value)[:40]!r}) was {'refused' if refused else 'taken'}: {answer}"
    return None


def with_value(body: Any, steps: list[str], value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """A copy of the body with another value in one place; what is missing on the way is put there."""
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


def _typed(holds: str, text: str) -> Any:  # noqa: ANN401 (any JSON value)
    type_ = holds.split(maxsplit=1)[0]
    if type_ == "boolean":
        return text == "True"
    return float(text) if type_ == "number" else int(text) if type_ == "integer" else text


async def _fault_of_default(
    stage: Stage,
    operation: str,
    sample: Sample,
    steps: list[str],
    default: Any,  # noqa: ANN401 (any JSON value)
) -> str | None:
    """Left out or said, it must come to the same."""
    without = await _effect(stage, operation, sample, without_value(sample.body, steps))
    said = await _effect(stage, operation, sample, with_value(sample.body, steps, default))
    return None if without == said else f"left out it means {without}, and {default} means {said}"


async def _effect(stage: Stage, operation: str, sample: Sample, body: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """What a request comes to: its priced lines, or what its jobs are to do."""
    ids = await ids_of(stage, sample)
    if "{videoId}" in operation and not sample.fresh and sample.of is None:
        ids = {"videoId": await stage.rows.video()}
    answer = await stage.ask(operation, renewed(body), ids=ids)
    if answer.status >= 300:
        return answer.status if sample.of == SILENT else str(answer)
    told = answer.document
    lines = told.get("breakdown") or told.get("lineItems")
    if lines is not None:
        return [{name: value for name, value in line.items() if name != "lineItemId"} for line in lines]
    if "voice_id" in told:
        noise = "SELECT remove_noise FROM voices WHERE id = $1"
        return await stage.accounts.connection.fetchval(noise, told["voice_id"])
    job_ids = [job["id"] for job in told["jobs"]] if "jobs" in told else [told["jobId"]]
    rows = await stage.accounts.connection.fetch(
        "SELECT type, plan FROM jobs WHERE id = ANY($1) ORDER BY type, automation_type", job_ids
    )
    named = await stage.accounts.connection.fetchval(
        "SELECT file_name FROM sources WHERE video_id = $1", told.get("videoId", "")
    )
    return [_ID.sub("*", str(each)) for each in (named, *(_meaning(row["type"], row["plan"]) for row in rows))]


def _meaning(type_: str, plan: Mapping[str, Any]) -> object:
    """What a workflow reads in a plan; what is left out there has its default there."""
    if type_ == "shorts":
        return shorts_of(plan)
    return thumbnail_of(plan) if type_ == "thumbnail" or plan.get("mode") == "zero_prompt" else plan


async def fault_of_query(stage: Stage, promise: Promise) -> str | None:
    """What of a promise about a query parameter does not hold."""
    name = promise.part.partition(" ")[2]
    type_, _, rest = promise.holds.partition(" ")
    sample = SAMPLES[promise.operation][0]
    for trial in trials_of(promise.holds, name):
        if type_ == "string" and trial.value == WRONG["string"]:
            continue  # everything in a query is a string
        answer = await send(stage, promise.operation, Sample(of=sample.of, query={name: trial.value}))
        if fault := _fault(answer, [name], trial):
            return fault
    if found := re.search(r"default (\S+)", rest):
        without = await send(stage, promise.operation, Sample(of=sample.of))
        said = await send(stage, promise.operation, Sample(of=sample.of, query={name: found[1]}))
        if _lasting(without.document) != _lasting(said.document):
            return f"left out: {without}; said: {said}"
    return None


def _lasting(document: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """A document without what is signed anew each time."""
    if isinstance(document, dict):
        return {name: _lasting(value) for name, value in document.items() if name != "nextPageToken"}
    if isinstance(document, list):
        return [_lasting(each) for each in document]
    return document.partition("?")[0] if isinstance(document, str) else document
