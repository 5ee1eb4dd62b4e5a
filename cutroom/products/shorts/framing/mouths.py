"""Infers who speaks from the mouth that moves most while a voice is heard.

A shot is decided as a whole, so its window does not jump between faces. Across shots there is hysteresis: a speaker
stays with the face at their position unless the mouth of another one moves far more.
"""

from collections.abc import Mapping, Sequence

from cutroom.engines.types import Box, TimeSpan
from cutroom.engines.vision.expressions import MIN_MOVEMENT, mouth_movement
from cutroom.products.shorts.framing.tracks import SAME_POSITION_IOU, FaceTrack, SpeakerTurns, iou, speaking_seconds

MIN_RATIO = 1.5  # by which a mouth must move more than any other one in the shot
MIN_TAKEOVER_RATIO = 2.5  # the same, against the face that the speaker had before


def assign_by_mouths(
    shots: Sequence[Sequence[FaceTrack]], turns: SpeakerTurns, labels_by_shot: Sequence[Sequence[str | None]]
) -> list[list[str | None]]:
    """The given labels, corrected where mouths decide; unchanged where no mouths were measured."""
    positions: dict[str, Box] = {}
    result = []
    for tracks, labels in zip(shots, labels_by_shot, strict=True):
        decided = _decide(tracks, turns, positions)
        positions |= {label: tracks[index].position for index, label in decided.items()}
        rest = [None if label in decided.values() else label for label in labels]
        result.append([decided.get(index, label) for index, label in enumerate(rest)])
    return result


def _decide(tracks: Sequence[FaceTrack], turns: SpeakerTurns, positions: Mapping[str, Box]) -> dict[int, str]:
    """Speakers by the index of their track; of two speakers with one mouth, the one who speaks longer."""
    if len(tracks) < 2:
        return {}
    start, end = min(track.seconds[0] for track in tracks), max(track.seconds[-1] for track in tracks)
    seconds = speaking_seconds(turns, start_seconds=start, end_seconds=end)
    decided: dict[int, str] = {}
    for label in sorted(seconds, key=lambda each: (-seconds[each], each)):
        spans = [span for span, speaker in turns if speaker == label]
        index = _speaking_mouth(tracks, spans, before=positions.get(label))
        if index is not None:
            decided.setdefault(index, label)
    return decided


def _speaking_mouth(tracks: Sequence[FaceTrack], spans: Sequence[TimeSpan], *, before: Box | None) -> int | None:
    movements = {
        index: movement
        for index, track in enumerate(tracks)
        if (movement := mouth_movement(_openness_during(track, spans))) is not None
    }
    if len(movements) < 2:
        return None
    best, second = sorted(movements, key=lambda index: -movements[index])[:2]
    previous = None if before is None else _at_position(tracks, before)
    ratio = MIN_RATIO if previous in (None, best) else MIN_TAKEOVER_RATIO
    if movements[best] >= max(MIN_MOVEMENT, ratio * movements[second]):
        return best
    return previous


def _openness_during(track: FaceTrack, spans: Sequence[TimeSpan]) -> list[float]:
    return [
        openness
        for seconds, openness in zip(track.seconds, track.mouths, strict=True)
        if openness is not None and any(span.start_seconds <= seconds <= span.end_seconds for span in spans)
    ]


def _at_position(tracks: Sequence[FaceTrack], position: Box) -> int | None:
    overlaps = [iou(track.position, position) for track in tracks]
    best = max(range(len(tracks)), key=lambda index: overlaps[index])
    return best if overlaps[best] >= SAME_POSITION_IOU else None
