"""Writes changed lines into a published track, so that a regeneration does not encode the whole track again."""

from collections.abc import Sequence
from pathlib import Path

from cutroom.media.cutting.spans import merge_spans
from cutroom.media.splicing.tracks import ChangedAudio, TrackLevel, splice_track
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.mixdown import PEAK
from cutroom.products.dubs.mixing import FADE_SECONDS, MIX_RATE
from cutroom.products.dubs.script import CHUNK_SECONDS, LineSchedule
from cutroom.products.speech.rules import fingerprint

MAX_CHANGED_SHARE = 0.3  # of a track; if more has changed, all of it is encoded again
NEAR_SECONDS = 3.0  # changes that are so close to each other are encoded together
# Between the lossless mix and the track: the limiter releases within 60 ms, and resampling filters are shorter.
MARGIN_SECONDS = FADE_SECONDS + 0.25
CONTEXT_SECONDS = 1.5  # of the lossless mix that an encoding needs on both sides
_STREAMINFO_END = 26  # bytes of a FLAC file up to its number of samples


def changed_spans(before: LineSchedule, after: LineSchedule, *, duration_seconds: float) -> list[tuple[float, float]]:
    """When the mixes of two schedules differ, in order and apart."""
    schedules = [
        {(each.key, each.start_seconds, each.gain): each.start_seconds + each.seconds for each in schedule.lines}
        for schedule in (before, after)
    ]
    spans = [
        (line[1], ends[line]) for ends, other in (schedules, schedules[::-1]) for line in ends if line not in other
    ]
    spans += set(before.original) ^ set(after.original)
    widened = [
        (min(max(0.0, start - MARGIN_SECONDS), duration_seconds), min(end + MARGIN_SECONDS, duration_seconds))
        for start, end in spans
    ]
    return merge_spans(widened, gap_seconds=NEAR_SECONDS)


async def publish_spliced(
    artifacts: DubArtifacts,
    *,
    dub: DubRef,
    published: str,
    chunks: Sequence[str],
    spans: Sequence[tuple[float, float]],
    duration_seconds: float,
    gain_db: float,
) -> str | None:
    """The storage path of the published track with the changed spans; None if it has to be encoded as a whole."""
    changed = sum(end - start for start, end in spans)
    if changed > MAX_CHANGED_SHARE * duration_seconds or not await artifacts.exists(published):
        return None
    if not spans:  # an activity that is retried after it has published the track
        return published
    async with artifacts.media_cache.fetch(published) as track:
        with artifacts.media_cache.temp_dir() as temp_dir:
            changes = []
            for span in spans:
                change = await _changed_audio(artifacts, chunks, span, folder=temp_dir)
                if change is None:
                    return None
                changes.append(change)
            level = TrackLevel(gain_db, PEAK)
            spliced = await splice_track(
                track.path, changes, level=level, language=dub.language, output=temp_dir, sandbox=artifacts.sandbox
            )
            if spliced is None:
                return None
            inputs = {"chunks": list(chunks), "published": published}
            stored = dub.path(f"{fingerprint(inputs)[:16]}-track.m4a")
            await artifacts.put(stored, spliced)
    return stored


async def _changed_audio(
    artifacts: DubArtifacts, chunks: Sequence[str], span: tuple[float, float], *, folder: Path
) -> ChangedAudio | None:
    """The lossless mix of a span and its context; None if a chunk has not the length that it should have."""
    first = max(0, int((span[0] - CONTEXT_SECONDS) // CHUNK_SECONDS))
    last = min(len(chunks) - 1, int((span[1] + CONTEXT_SECONDS) // CHUNK_SECONDS))
    files = []
    for number in range(first, last + 1):
        file = folder / f"chunk-{number:05}.flac"
        if not file.exists():
            with file.open("wb") as output:
                async for block in artifacts.storage.read(chunks[number]):
                    output.write(block)
        if number < len(chunks) - 1 and _samples_of(file) != CHUNK_SECONDS * MIX_RATE:
            return None
        files.append(file)
    samples = (round(span[0] * MIX_RATE), round(span[1] * MIX_RATE))
    return ChangedAudio(*samples, files, round(first * CHUNK_SECONDS * MIX_RATE))


def _samples_of(flac: Path) -> int:
    """The number of samples that the header of a FLAC file states."""
    with flac.open("rb") as file:
        head = file.read(_STREAMINFO_END)
    return int.from_bytes(head[21:26], "big") & (1 << 36) - 1
