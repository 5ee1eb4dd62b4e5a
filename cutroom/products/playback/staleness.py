"""Says whether the packaged stream of a video is stale, by comparing its tracks with those that it should have."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from cutroom.media.cutting.spans import Span
from cutroom.products.declaration import StaleKind, StaleProduct
from cutroom.products.playback.edits import PackagedEdit, find_edits
from cutroom.products.playback.service import TrackSource, expected_tracks, track_sources
from cutroom.products.transcripts.cutting.timelines import deleted_spans
from cutroom.products.transcripts.service import UNKNOWN_LANGUAGE
from cutroom.products.transcripts.staleness.query import StaleQuery

SECONDS_PER_TRACK = 3.0  # to package one
SECONDS_PER_SECOND = 0.5  # to encode the picture again, on a small server


class StaleTracks(StrEnum):
    """Which tracks of a stream are not those of now."""

    SUBTITLES_CHANGED = "subtitlesChanged"
    AUDIO_CHANGED = "audioChanged"  # of a dub
    CUTS_CHANGED = "cutsChanged"  # words were deleted or restored since the stream was cut


async def find_stale(query: StaleQuery) -> Sequence[StaleProduct]:
    """A stream with other cuts than the transcript, or whose subtitles or dubs have changed, which are packaged by
    themselves within seconds.
    """
    existing = await track_sources(query.connection, query.library_id, query.video.id)
    language = query.video.default_language_code or UNKNOWN_LANGUAGE
    expected = await expected_tracks(
        query.connection, query.library_id, query.video.id, language=language, has_audio=False
    )
    edits = await find_edits(query.connection, query.library_id, query.video.id)
    cut = edits.packaged.cut if edits.packaged is not None else None
    tracks = changed_tracks([each.with_cut(cut) for each in expected], existing)
    reasons = [*stale_reasons(tracks)]
    seconds = SECONDS_PER_TRACK * len(tracks)
    if has_other_cuts(edits.packaged, deleted_spans(query.document)):
        reasons.append(StaleTracks.CUTS_CHANGED)
        seconds += SECONDS_PER_SECOND * (query.video.duration or 0.0)
    if not existing or not reasons:
        return []
    return [
        StaleProduct(
            StaleKind.PLAYBACK,
            query.video.id,
            tuple(reasons),
            credits=0.0,
            estimated_seconds=round(seconds, 1),
            transcript_revision=edits.packaged.request.revision if edits.packaged is not None else None,
        )
    ]


def has_other_cuts(packaged: PackagedEdit | None, deleted: Sequence[Span]) -> bool:
    """Whether a stream leaves out something else than what is deleted now; the whole recording can be asked for."""
    if packaged is None:
        return bool(deleted)
    return not packaged.request.uncut and list(packaged.deleted) != list(deleted)


def changed_tracks(expected: Iterable[TrackSource], existing: Mapping[tuple[str, str], str]) -> list[TrackSource]:
    """The tracks that are missing, or packaged from something else."""
    return [each for each in expected if existing.get((each.kind, each.name)) != each.source]


def stale_reasons(tracks: Iterable[TrackSource]) -> tuple[StaleTracks, ...]:
    kinds = {each.kind for each in tracks}
    reasons = {"text": StaleTracks.SUBTITLES_CHANGED, "audio": StaleTracks.AUDIO_CHANGED}
    return tuple(reason for kind, reason in reasons.items() if kind in kinds)
