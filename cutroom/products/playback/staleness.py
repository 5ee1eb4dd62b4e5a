"""Says whether the packaged stream of a video is stale, by comparing its tracks with those that it should have."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from cutroom.products.declaration import StaleKind, StaleProduct
from cutroom.products.playback.service import TrackSource, expected_tracks, track_sources
from cutroom.products.transcripts.service import UNKNOWN_LANGUAGE
from cutroom.products.transcripts.staleness.query import StaleQuery

SECONDS_PER_TRACK = 3.0  # to package one


class StaleTracks(StrEnum):
    """Which tracks of a stream are not those of now."""

    SUBTITLES_CHANGED = "subtitlesChanged"
    AUDIO_CHANGED = "audioChanged"  # of a dub


async def find_stale(query: StaleQuery) -> Sequence[StaleProduct]:
    """A stream whose subtitles or dubs have changed; it is packaged by itself within seconds, and free."""
    existing = await track_sources(query.connection, query.library_id, query.video.id)
    language = query.video.default_language_code or UNKNOWN_LANGUAGE
    expected = await expected_tracks(
        query.connection, query.library_id, query.video.id, language=language, has_audio=False
    )
    tracks = changed_tracks(expected, existing)
    reasons = stale_reasons(tracks)
    if not existing or not reasons:
        return []
    seconds = SECONDS_PER_TRACK * len(tracks)
    return [StaleProduct(StaleKind.PLAYBACK, query.video.id, reasons, credits=0.0, estimated_seconds=seconds)]


def changed_tracks(expected: Iterable[TrackSource], existing: Mapping[tuple[str, str], str]) -> list[TrackSource]:
    """The tracks that are missing, or packaged from something else."""
    return [each for each in expected if existing.get((each.kind, each.name)) != each.source]


def stale_reasons(tracks: Iterable[TrackSource]) -> tuple[StaleTracks, ...]:
    kinds = {each.kind for each in tracks}
    reasons = {"text": StaleTracks.SUBTITLES_CHANGED, "audio": StaleTracks.AUDIO_CHANGED}
    return tuple(reason for kind, reason in reasons.items() if kind in kinds)
