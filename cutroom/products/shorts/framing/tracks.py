"""Whose face is whose from sample to sample, and who of them speaks.

Nothing tells faces apart but where they are. Within a shot a face is the one that it overlaps in the sample before.
Across shots, faces that fill much the same place are taken for one person's: cameras of a talk stand still, and are cut
to again and again. A voice belongs to the place that is seen while it speaks clearly more often than while others do.
In a film that shows both all the time that says nothing, and then nothing is said: nobody looks at lips here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from cutroom.engines.types import Box, TimeSpan
from cutroom.engines.vision.port import Face

MIN_SCORE = 0.6
MIN_HEIGHT = 0.04  # of the picture: smaller faces are not what a film is about
BRIDGED_SECONDS = 1.0  # for which a face may be lost, turned away or covered
SAME_FACE = 0.2  # of overlap, from sample to sample
SAME_PLACE = 0.3  # of overlap, from shot to shot
MIN_SAMPLES = 2
TOLD_APART = 0.3  # how much more of one voice's time than of the next one's a place is seen
MIN_TALK_SECONDS = 0.8  # of a voice in a shot; less is a word thrown in

Talking = Sequence[tuple[TimeSpan, str]]


@dataclass(frozen=True, slots=True)
class FrameAnalysis:
    """What was found in one picture of a clip, at a time from its start."""

    seconds: float
    faces: tuple[Face, ...]
    interest_x: float  # where most happens, as a share of the width
    is_screen: bool


@dataclass(slots=True)
class Track:
    """One face through a shot."""

    seconds: list[float] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)

    @property
    def place(self) -> Box:
        """The median of its boxes."""
        return Box(
            median(box.x for box in self.boxes),
            median(box.y for box in self.boxes),
            median(box.width for box in self.boxes),
            median(box.height for box in self.boxes),
        )

    @property
    def weight(self) -> float:
        """How much there is to see of it: its mean size times how often it was seen."""
        return sum(box.width * box.height for box in self.boxes)


def overlap(one: Box, two: Box) -> float:
    """What two boxes share, of all that they cover."""
    across = min(one.x + one.width, two.x + two.width) - max(one.x, two.x)
    down = min(one.y + one.height, two.y + two.height) - max(one.y, two.y)
    if across <= 0 or down <= 0:
        return 0.0
    shared = across * down
    return shared / (one.width * one.height + two.width * two.height - shared)


def counted(faces: Iterable[Face]) -> list[Face]:
    """Without what is doubtful or tiny."""
    return [face for face in faces if face.score >= MIN_SCORE and face.box.height >= MIN_HEIGHT]


def find_tracks(seen: Sequence[FrameAnalysis]) -> list[Track]:
    """The faces of one shot, the weightiest first. What was seen in one sample only was no face."""
    tracks: list[Track] = []
    for sample in seen:
        near = [track for track in tracks if sample.seconds - track.seconds[-1] <= BRIDGED_SECONDS]
        pairs = sorted(
            (
                (_likeness(track.boxes[-1], face.box), at, face.box)
                for at, track in enumerate(near)
                for face in counted(sample.faces)
            ),
            key=lambda pair: -pair[0],
        )
        taken: set[int] = set()
        placed: set[Box] = set()
        for likeness, at, box in pairs:
            if likeness > 0 and at not in taken and box not in placed:
                near[at].seconds.append(sample.seconds)
                near[at].boxes.append(box)
                taken.add(at)
                placed.add(box)
        tracks += [Track([sample.seconds], [face.box]) for face in counted(sample.faces) if face.box not in placed]
    least = min(MIN_SAMPLES, len(seen))
    return sorted((track for track in tracks if len(track.boxes) >= least), key=lambda track: -track.weight)


def _likeness(one: Box, two: Box) -> float:
    """Above 0 for one face in two samples: an overlap, or a quick move of a face that keeps its size."""
    shared = overlap(one, two)
    if shared >= SAME_FACE:
        return 1 + shared
    across = abs(one.x + one.width / 2 - two.x - two.width / 2) / max(one.width, two.width)
    down = abs(one.y + one.height / 2 - two.y - two.height / 2) / max(one.height, two.height)
    alike = min(one.height, two.height) / max(one.height, two.height)
    return 1 - max(across, down) if max(across, down) < 1 and alike > 0.6 else 0.0


def name_places(shots: Sequence[Sequence[Track]], talking: Talking) -> list[list[str | None]]:
    """For each track of each shot the voice that it has, where that can be told."""
    places: list[list[tuple[int, int]]] = []
    for shot, tracks in enumerate(shots):
        for at, track in enumerate(tracks):
            same = [place for place in places if _is_same(shots, place[0], track) and all(s != shot for s, _ in place)]
            (same[0] if same else _new(places)).append((shot, at))
    named: list[list[str | None]] = [[None] * len(tracks) for tracks in shots]
    for place in places:
        label = _voice_of([shots[shot][at] for shot, at in place], talking)
        for shot, at in place:
            named[shot][at] = label
    return named


def _is_same(shots: Sequence[Sequence[Track]], first: tuple[int, int], track: Track) -> bool:
    return overlap(shots[first[0]][first[1]].place, track.place) >= SAME_PLACE


def _new(places: list[list[tuple[int, int]]]) -> list[tuple[int, int]]:
    places.append([])
    return places[-1]


def _voice_of(tracks: Sequence[Track], talking: Talking) -> str | None:
    labels = sorted({label for _, label in talking})
    shares = {label: _share_seen(tracks, [span for span, said in talking if said == label]) for label in labels}
    ranked = sorted(labels, key=lambda label: -shares[label])
    if not ranked:
        return None
    next_share = shares[ranked[1]] if len(ranked) > 1 else 0.0
    return ranked[0] if shares[ranked[0]] - next_share >= TOLD_APART else None


def _share_seen(tracks: Sequence[Track], spans: Sequence[TimeSpan]) -> float:
    spoken = sum(span.end_seconds - span.start_seconds for span in spans)
    seen = sum(_shared_seconds(span, track.seconds[0], track.seconds[-1]) for span in spans for track in tracks)
    return seen / spoken if spoken > 0 else 0.0


def _shared_seconds(span: TimeSpan, start: float, end: float) -> float:
    return max(0.0, min(span.end_seconds, end) - max(span.start_seconds, start))


def talkers(talking: Talking, *, start_seconds: float, end_seconds: float) -> set[str]:
    """The voices that speak in a shot, more than a word."""
    spoken: dict[str, float] = {}
    for span, label in talking:
        spoken[label] = spoken.get(label, 0.0) + _shared_seconds(span, start_seconds, end_seconds)
    least = min(MIN_TALK_SECONDS, (end_seconds - start_seconds) / 4)
    return {label for label, seconds in spoken.items() if seconds >= least}


def may_speak(label: str | None, *, voices: set[str], told: Iterable[str | None]) -> bool:
    """Whether a face speaks in a shot, or could: it has one of the voices, or none and a voice has no face yet."""
    if label is not None:
        return label in voices
    return bool(voices - {each for each in told if each is not None})
