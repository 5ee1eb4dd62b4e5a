"""Random edits of a transcript and of its dub, and a model that says which lines they make outdated."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from proofs.editing.dubbed_video import EditedDub
from proofs.stage.report import Report

WORDS = ("boat", "oak", "steam", "winter", "plank", "harbor")


async def prove_random_edits(report: Report, edited: EditedDub, *, edits: int) -> None:
    """After each edit, exactly the lines that the model names are outdated."""
    rng, wrong = random.Random(3), 0
    first = await edited.read()
    known = {each["id"]: each for each in first["segments"]}
    spoken = await _spoken(edited, first["transcriptRevision"])
    for _ in range(edits):
        read = await edited.read()
        if rng.random() < 0.6:
            await edited.edit_transcript(_operation(rng, await _spoken(edited, read["transcriptRevision"])))
        else:
            line = rng.choice([each for each in read["segments"] if "removed" not in each["stale"]])
            value = rng.choice(({"gainDb": -2}, {"gainDb": None}, {"text": "Outra."}, {"text": None}, {"mute": None}))
            (await edited.patch(read["revision"], {"id": line["id"], **value})).raise_for_status()
        after = await edited.read()
        document = await _segments(edited, after["transcriptRevision"])
        wrong += _faults(known, spoken, document, after["segments"])
    report.claim(
        f"lines whose staleness differs from a model, after {edits} edits",
        expected="0",
        measured=wrong,
        holds=not wrong,
    )
    report.figures(stale_wrong=wrong)


def _faults(
    known: Mapping[str, Mapping[str, Any]],
    before: Sequence[Mapping[str, Any]],
    segments: Sequence[Mapping[str, Any]],
    lines: Sequence[Mapping[str, Any]],
) -> int:
    """Lines that are outdated without a reason, or current in spite of one."""
    now, document = _kept(segments), {each["id"]: each for each in segments}
    then, today = {each["id"]: each for each in before}, {each["id"] for each in now}
    faults = 0
    for line in lines:
        published = known.get(line["id"])
        ids = published["segmentIds"] if published is not None else []
        if published is None:
            expected = {"added"}
        elif not any(id_ in today for id_ in ids):
            expected = {"removed"}
        else:
            expected = {"edited"} if line["edits"] != published["edits"] else set()
            if _is_changed(published, line, [then[id_] for id_ in ids], _first_run(ids, now)):
                expected |= _source_reasons([then[id_] for id_ in ids], document)
        faults += set(line["stale"]) != expected
    return faults


def _source_reasons(before: Sequence[Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Some segments of the line are deleted, or what it is made of is not what it was, or both; `now` has all."""
    said = [now[each["id"]] for each in before]

    def source(segments: Sequence[Mapping[str, Any]]) -> tuple[Any, ...]:
        texts, speakers = " ".join(each["text"] for each in segments), {each["speaker"] for each in segments}
        return texts, speakers, segments[0]["start"], max(each["end"] for each in segments)

    if not any(each["deleted"] for each in said):
        return {"sourceChanged"}
    return {"cut"} if source(said) == source(before) else {"cut", "sourceChanged"}


def _first_run(ids: Sequence[str], now: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What is left of a line: its first segments that follow each other and have one speaker."""
    run: list[Mapping[str, Any]] = []
    for segment in now:
        belongs = segment["id"] in ids and (not run or segment["speaker"] == run[0]["speaker"])
        if run and not belongs:
            break
        if belongs:
            run.append(segment)
    return run


def _is_changed(
    published: Mapping[str, Any],
    line: Mapping[str, Any],
    before: Sequence[Mapping[str, Any]],
    now: Sequence[Mapping[str, Any]],
) -> bool:
    """Whether the source of a line is another one; a text that is written by hand does not follow it."""

    def source(segments: Sequence[Mapping[str, Any]]) -> tuple[Any, ...]:
        return segments[0]["start"], max(each["end"] for each in segments), segments[0]["speaker"]

    is_written = "text" in line["edits"] or "text" in published["edits"]
    texts = [" ".join(each["text"] for each in segments) for segments in (before, now)]
    return source(before) != source(now) or (texts[0] != texts[1] and not is_written)


def _operation(rng: random.Random, segments: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    segment = rng.choice(segments)
    operations: list[dict[str, Any]] = [
        {"op": "replaceText", "id": segment["id"], "text": f"{rng.choice(WORDS)} {rng.choice(WORDS)}."},
        {"op": "setSpeaker", "ids": [segment["id"]], "speaker": "guest"},
        {"op": "setTimes", "id": segment["id"], "start": segment["start"], "end": round(segment["end"] - 0.05, 3)},
    ]
    if len(segments) > 3:
        operations.append({"op": "delete", "ids": [segment["id"]]})
    return rng.choice(operations)


async def _spoken(edited: EditedDub, revision: int) -> list[Mapping[str, Any]]:
    """The segments of a revision that are not deleted, in order."""
    return _kept(await _segments(edited, revision))


def _kept(segments: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    kept = [each for each in segments if not each["deleted"]]
    return sorted(kept, key=lambda each: (each["start"], each["end"]))


async def _segments(edited: EditedDub, revision: int) -> list[Mapping[str, Any]]:
    path = f"/v1/videos/{edited.video_id}/transcript/revisions/{revision}"
    segments: list[Mapping[str, Any]] = (await edited.client.get(path)).raise_for_status().json()["segments"]
    return segments
