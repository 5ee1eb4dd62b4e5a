"""Edits a transcript and regenerates what of its captions is stale: the price, and what stays as it is."""

import time
from dataclasses import dataclass
from typing import Any

from proofs.captions.stage import CaptionsClient
from proofs.stage.report import Report

LANGUAGE = "pt"
BY_HAND = "Este texto foi escrito à mão."
SHIFT_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Source:
    """What a caption is made from."""

    text: str
    start: float
    end: float
    speaker: str


async def prove_regeneration(report: Report, api: CaptionsClient, video_id: str) -> tuple[int, int]:
    """Every kind of edit at once; returns how many segments were stale, and how many wrongly so or not."""
    segments_url = f"/v1/videos/{video_id}/captions/{LANGUAGE}/segments"
    revision, before = await _transcript(api, video_id)
    ids = list(before)
    hand, changed_hand = ids[4], ids[30]
    for each in (hand, changed_hand):
        await _set_text(api, segments_url, each)
    stored = await _rows(api, video_id)
    edits = _edits(ids, before, changed_hand)
    edit = {"revision": revision, "operations": edits}
    (await api.client.patch(f"/v1/videos/{video_id}/transcript", json=edit)).raise_for_status()
    _, after = await _transcript(api, video_id)
    found = (await api.client.get(segments_url)).raise_for_status().json()
    expected = _expected(before, after, by_hand={hand, changed_hand})
    reported = {each["id"]: (set(each["stale"]), each["review"]) for each in found["segments"]}
    wrong = sum(reported.get(each) != expected.get(each) for each in reported.keys() | expected.keys())
    stale = {id_ for id_, (reasons, _) in expected.items() if reasons}
    report.claim(
        f"stale segments of {len(found['segments'])} after {len(edits)} edits, wrong ones",
        expected=f"{len(stale)}, 0",
        measured=f"{found['staleSegments']}, {wrong}",
        holds=found["staleSegments"] == len(stale) > 0 and not wrong,
    )
    await _prove_price(report, api, video_id, found)
    rows = await _rows(api, video_id)
    kept = stored.keys() - stale
    touched = sorted(each for each in kept if rows.get(each) != stored[each])
    left = (await api.client.get(segments_url)).raise_for_status().json()
    report.claim(
        f"segments that were not stale, and differ afterwards (of {len(kept)}); stale and to review afterwards",
        expected="0; 0 and 1",
        measured=f"{len(touched)}; {left['staleSegments']} and {left['reviewSegments']}",
        holds=bool(kept) and not touched and (left["staleSegments"], left["reviewSegments"]) == (0, 1),
    )
    return len(stale), wrong + len(touched)


async def _prove_price(report: Report, api: CaptionsClient, video_id: str, found: dict[str, Any]) -> None:
    quote, started = found["regeneration"], time.monotonic()
    balance = (await api.quote(video_id, []))["balance"]
    body = {"revision": found["revision"], "transcriptRevision": found["transcriptRevision"]}
    url = f"/v1/videos/{video_id}/captions/{LANGUAGE}/regenerate"
    made = (await api.client.post(url, json=body)).raise_for_status().json()["job"]
    again = (await api.client.post(url, json=body)).raise_for_status().json()["job"]
    job = await api.wait_for_job(made["id"])
    seconds = time.monotonic() - started
    captured = (await api.receipt(made["id"]))["captured"]
    charged = round(balance - (await api.quote(video_id, []))["balance"], 3)
    lines = job.get("result", {}).get("lines")
    report.claim(
        f"credits quoted, captured and charged for {quote['seconds']} changed seconds, translated lines",
        expected=f"equal, {quote['translatedSegments']} (one job for two requests)",
        measured=f"{quote['credits']}, {captured}, {charged}, {lines}; {job['status']} after {seconds:.1f} s, "
        f"estimated {quote['estimatedSeconds']} s",
        holds=job["status"] == "ready"
        and again["id"] == made["id"]
        and quote["credits"] == captured == charged > 0
        and lines == quote["translatedSegments"],
    )


def _edits(ids: list[str], sources: dict[str, Source], changed_hand: str) -> list[dict[str, Any]]:
    """Edits of every kind, on segments that are apart from each other."""
    moved = sources[ids[10]]
    last = sources[ids[-1]]
    return [
        {"op": "replaceText", "id": ids[1], "text": "The invoice was paid on Tuesday."},
        {"op": "replaceText", "id": ids[2], "text": "The other one was never found."},
        {"op": "replaceText", "id": changed_hand, "text": "This was said in another way."},
        {"op": "setTimes", "id": ids[10], "start": moved.start, "end": moved.end - SHIFT_SECONDS},
        {"op": "setSpeaker", "ids": [ids[14]], "speaker": "speaker_2"},
        {"op": "delete", "ids": [ids[18]]},
        {"op": "split", "id": ids[22], "at": len(sources[ids[22]].text) // 2},
        {"op": "merge", "ids": ids[26:28]},
        {
            "op": "insert",
            "start": last.end + SHIFT_SECONDS,
            "end": last.end + 3 * SHIFT_SECONDS,
            "text": "That was all.",
            "speaker": "speaker_1",
        },
    ]


def _expected(
    before: dict[str, Source], after: dict[str, Source], *, by_hand: set[str]
) -> dict[str, tuple[set[str], bool]]:
    """What should be stale and reviewed, from the transcript before and after."""
    expected = {}
    for each in before.keys() | after.keys():
        old, new = before.get(each), after.get(each)
        if old is None or new is None:
            expected[each] = ({"added" if old is None else "removed"}, False)
            continue
        is_changed = old.text != new.text
        reasons = {
            "sourceChanged": is_changed and each not in by_hand,
            "timesChanged": (old.start, old.end) != (new.start, new.end),
            "speakerChanged": old.speaker != new.speaker,
        }
        expected[each] = ({name for name, holds in reasons.items() if holds}, is_changed and each in by_hand)
    return expected


async def _transcript(api: CaptionsClient, video_id: str) -> tuple[int, dict[str, Source]]:
    """The current revision, and its segments by id without deleted ones."""
    url = f"/v1/videos/{video_id}/transcript/revisions"
    revision: int = (await api.client.get(url, params={"limit": 1})).raise_for_status().json()["revision"]
    document = (await api.client.get(f"{url}/{revision}")).raise_for_status().json()
    return revision, {
        each["id"]: Source(each["text"], each["start"], each["end"], each["speaker"])
        for each in document["segments"]
        if not each["deleted"]
    }


async def _set_text(api: CaptionsClient, url: str, segment_id: str) -> None:
    revision = (await api.client.get(url)).raise_for_status().json()["revision"]
    operation = {"op": "setText", "id": segment_id, "text": BY_HAND}
    body = {"revision": revision, "operations": [operation]}
    (await api.client.patch(url, json=body)).raise_for_status()


async def _rows(api: CaptionsClient, video_id: str) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in await api.captions(video_id, LANGUAGE)}
