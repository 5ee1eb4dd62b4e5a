"""Tracks faces through shots and infers which of them speaks.

Faces are identified by position only. Within a shot, a face continues the one that it overlaps in the previous sample.
Across shots, faces at much the same position are taken to be one person, because cameras of a talk are static and are
cut to repeatedly. A speaker is assigned to the position that is visible clearly more often while they speak than while
others do. Where both are always visible this is undecidable, and no speaker is assigned; moving mouths may still tell
(`mouths`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from cutroom.engines.types import Box, TimeSpan
from cutroom.engines.vision.expressions import UNKNOWN, FaceExpression
from cutroom.engines.vision.port import Face

MIN_SCORE = 0.6
MIN_HEIGHT = 0.04  # of the frame; smaller faces are ignored
MAX_GAP_SECONDS = 1.0  # for which a face may be lost, turned away or covered
SAME_FACE_IOU = 0.2  # between samples
SAME_POSITION_IOU = 0.3  # between shots
MIN_SAMPLES = 2
MIN_SPEAKER_MARGIN = 0.3  # by which a position's visibility must favor one speaker over the next
MIN_TALK_SECONDS = 0.8  # of a speaker in a shot; less is an interjection

SpeakerTurns = Sequence[tuple[TimeSpan, str]]


@dataclass(frozen=True, slots=True)
class FrameAnalysis:
    """Detections in one frame of a clip; `seconds` is relative to its start.

    There are as many `expressions` as faces, or none if they were not measured.
    """

    seconds: float
    faces: tuple[Face, ...]
    saliency_center_x: float  # as a fraction of the width
    is_screen: bool
    expressions: tuple[FaceExpression, ...] = ()

    def expression_of(self, face: Face) -> FaceExpression:
        return self.expressions[self.faces.index(face)] if self.expressions else UNKNOWN


@dataclass(slots=True)
class FaceTrack:
    """One face throughout a shot."""

    seconds: list[float] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    mouths: list[float | None] = field(default_factory=list)  # openness; None where it was not measured

    @property
    def position(self) -> Box:
        """Median box."""
        return Box(
            median(box.x for box in self.boxes),
            median(box.y for box in self.boxes),
            median(box.width for box in self.boxes),
            median(box.height for box in self.boxes),
        )

    @property
    def weight(self) -> float:
        """Prominence: mean area times number of samples."""
        return sum(box.width * box.height for box in self.boxes)


def iou(one: Box, two: Box) -> float:
    """Intersection over union."""
    across = min(one.x + one.width, two.x + two.width) - max(one.x, two.x)
    down = min(one.y + one.height, two.y + two.height) - max(one.y, two.y)
    if across <= 0 or down <= 0:
        return 0.0
    shared = across * down
    return shared / (one.width * one.height + two.width * two.height - shared)


def reliable_faces(faces: Iterable[Face]) -> list[Face]:
    """Faces above the score and size thresholds."""
    return [face for face in faces if face.score >= MIN_SCORE and face.box.height >= MIN_HEIGHT]


def prominence(face: Face) -> float:
    return face.score * face.box.width * face.box.height


def track_faces(frames: Sequence[FrameAnalysis]) -> list[FaceTrack]:
    """Face tracks of one shot, the most prominent first; single detections are discarded."""
    tracks: list[FaceTrack] = []
    for sample in frames:
        near = [track for track in tracks if sample.seconds - track.seconds[-1] <= MAX_GAP_SECONDS]
        pairs = sorted(
            (
                (_match_score(track.boxes[-1], face.box), index, face)
                for index, track in enumerate(near)
                for face in reliable_faces(sample.faces)
            ),
            key=lambda pair: -pair[0],
        )
        matched: set[int] = set()
        assigned: set[Box] = set()
        for score, index, face in pairs:
            if score > 0 and index not in matched and face.box not in assigned:
                near[index].seconds.append(sample.seconds)
                near[index].boxes.append(face.box)
                near[index].mouths.append(sample.expression_of(face).mouth_openness)
                matched.add(index)
                assigned.add(face.box)
        tracks += [
            FaceTrack([sample.seconds], [face.box], [sample.expression_of(face).mouth_openness])
            for face in reliable_faces(sample.faces)
            if face.box not in assigned
        ]
    min_samples = min(MIN_SAMPLES, len(frames))
    return sorted((track for track in tracks if len(track.boxes) >= min_samples), key=lambda track: -track.weight)


def _match_score(one: Box, two: Box) -> float:
    """Positive if both boxes can be one face: overlap, or a quick move at constant size."""
    shared = iou(one, two)
    if shared >= SAME_FACE_IOU:
        return 1 + shared
    across = abs(one.x + one.width / 2 - two.x - two.width / 2) / max(one.width, two.width)
    down = abs(one.y + one.height / 2 - two.y - two.height / 2) / max(one.height, two.height)
    size_ratio = min(one.height, two.height) / max(one.height, two.height)
    return 1 - max(across, down) if max(across, down) < 1 and size_ratio > 0.6 else 0.0


def assign_speakers(shots: Sequence[Sequence[FaceTrack]], turns: SpeakerTurns) -> list[list[str | None]]:
    """The speaker of each track of each shot, or None if undecidable."""
    positions: list[list[tuple[int, int]]] = []
    for shot, tracks in enumerate(shots):
        for index, track in enumerate(tracks):
            matches = [
                position
                for position in positions
                if _is_same_position(shots, position[0], track) and all(s != shot for s, _ in position)
            ]
            (matches[0] if matches else _new_group(positions)).append((shot, index))
    labels_by_shot: list[list[str | None]] = [[None] * len(tracks) for tracks in shots]
    for position in positions:
        label = _speaker_of([shots[shot][index] for shot, index in position], turns)
        for shot, index in position:
            labels_by_shot[shot][index] = label
    return labels_by_shot


def _is_same_position(shots: Sequence[Sequence[FaceTrack]], first: tuple[int, int], track: FaceTrack) -> bool:
    return iou(shots[first[0]][first[1]].position, track.position) >= SAME_POSITION_IOU


def _new_group(positions: list[list[tuple[int, int]]]) -> list[tuple[int, int]]:
    positions.append([])
    return positions[-1]


def _speaker_of(tracks: Sequence[FaceTrack], turns: SpeakerTurns) -> str | None:
    labels = sorted({label for _, label in turns})
    shares = {label: _visible_share(tracks, [span for span, speaker in turns if speaker == label]) for label in labels}
    ranked = sorted(labels, key=lambda label: -shares[label])
    if not ranked:
        return None
    next_share = shares[ranked[1]] if len(ranked) > 1 else 0.0
    return ranked[0] if shares[ranked[0]] - next_share >= MIN_SPEAKER_MARGIN else None


def _visible_share(tracks: Sequence[FaceTrack], spans: Sequence[TimeSpan]) -> float:
    speaking_seconds = sum(span.end_seconds - span.start_seconds for span in spans)
    frames = sum(_overlap_seconds(span, track.seconds[0], track.seconds[-1]) for span in spans for track in tracks)
    return frames / speaking_seconds if speaking_seconds > 0 else 0.0


def _overlap_seconds(span: TimeSpan, start: float, end: float) -> float:
    return max(0.0, min(span.end_seconds, end) - max(span.start_seconds, start))


def active_speakers(turns: SpeakerTurns, *, start_seconds: float, end_seconds: float) -> set[str]:
    """Speakers who say more than an interjection in a shot."""
    min_seconds = min(MIN_TALK_SECONDS, (end_seconds - start_seconds) / 4)
    found = speaking_seconds(turns, start_seconds=start_seconds, end_seconds=end_seconds)
    return {label for label, seconds in found.items() if seconds >= min_seconds}


def speaking_seconds(turns: SpeakerTurns, *, start_seconds: float, end_seconds: float) -> dict[str, float]:
    """How long each speaker talks in a shot."""
    result: dict[str, float] = {}
    for span, label in turns:
        result[label] = result.get(label, 0.0) + _overlap_seconds(span, start_seconds, end_seconds)
    return result


def may_be_speaking(label: str | None, *, speakers: set[str], known: Iterable[str | None]) -> bool:
    """Whether a face may be speaking: its speaker is active, or it has none and an active speaker has no face."""
    if label is not None:
        return label in speakers
    return bool(speakers - {each for each in known if each is not None})
