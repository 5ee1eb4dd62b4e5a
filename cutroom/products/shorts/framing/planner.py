"""What of each shot is shown: a window on who matters, two of them, or all of the picture.

A window jumps only where the film cuts. Within a shot it stands still if it can, and else follows (`paths`). Two faces
that one window cannot hold share the picture if both speak in the shot, or could, as far as can be told (`tracks`).
Screens full of text are never cropped. Where there is no face, the window is where most happens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

from cutroom.engines.types import Box
from cutroom.media.crop_plan import CropPlan, Fit, Key, Pane, Scene
from cutroom.products.shorts.framing.paths import MAX_SPEED, PanTarget, Room, follow, keys, median_place, still
from cutroom.products.shorts.framing.tracks import (
    BRIDGED_SECONDS,
    FrameAnalysis,
    Talking,
    Track,
    find_tracks,
    may_speak,
    name_places,
    talkers,
)

ASPECTS = {"9:16": (9, 16), "1:1": (1, 1), "16:9": (16, 9)}
LASTING = 0.5  # of a shot's samples: a face that is there so often is part of it
DOMINANT_HEIGHT = 0.25  # of the picture: a face beside which a screen is only its background
SIMILAR = 0.3  # of the larger face's weight: a smaller one shares no picture with it
MIN_SPLIT_SECONDS = 1.5
TOGETHER = 0.9  # of the window that two faces may fill, and of the samples in which they must fit
NEARLY_ALL = 0.9  # of the picture: a window of this size crops even a screen
MIN_SHOT_FRAMES = 2
UPRIGHT_AIM = 0.42  # where in a window's height a face should be
PANE_FACES = 2.6  # how high a pane is beside the face in it
MIN_PANE = 0.34  # of the picture's height, below which a pane would show pixels
INTEREST_SPREAD = 0.35  # of a window: interest that wanders less is met by a window that stands
INTEREST_WIDTH = 0.1  # of a window: how exactly interest is meant
INTEREST_MEAN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Source:
    """The film that is framed; `aspect` is the wanted one, as width to height."""

    width: int
    height: int
    fps: float
    aspect: tuple[int, int]

    def window(self) -> tuple[int, int]:
        """The largest that has the aspect and is inside, of even size."""
        return self.fitting(*self.aspect)

    def fitting(self, across: int, down: int) -> tuple[int, int]:
        if self.width * down > self.height * across:
            return _even(self.height * across / down), _even(self.height)
        return _even(self.width), _even(self.width * down / across)

    @property
    def is_stacked(self) -> bool:
        return self.aspect[1] > self.aspect[0]

    def half(self) -> tuple[int, int]:
        """The aspect of a pane of two."""
        across, down = self.aspect
        return (2 * across, down) if self.is_stacked else (across, 2 * down)


@dataclass(frozen=True, slots=True)
class _Shot:
    start_seconds: float
    end_seconds: float
    seen: tuple[FrameAnalysis, ...]
    tracks: tuple[Track, ...]

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds

    def lasting(self) -> list[int]:
        least = LASTING * len(self.seen)
        return [at for at, track in enumerate(self.tracks) if len(track.boxes) >= least]


def plan_crops(
    seen: Sequence[FrameAnalysis], source: Source, *, cuts: Sequence[float], clip_seconds: float, talking: Talking = ()
) -> CropPlan:
    """Scenes for all of a clip: one a shot. Everything counts from the clip's start."""
    shots = _shots(seen, source, cuts=cuts, clip_seconds=clip_seconds)
    named = name_places([shot.tracks for shot in shots], talking)
    scenes = [_scene(shot, source, labels=labels, talking=talking) for shot, labels in zip(shots, named, strict=True)]
    return CropPlan(source.width, source.height, source.fps, tuple(scenes))


def _even(length: float) -> int:
    return max(2, int(length + 1e-6) // 2 * 2)


def _shots(seen: Sequence[FrameAnalysis], source: Source, *, cuts: Sequence[float], clip_seconds: float) -> list[_Shot]:
    """Bounds lie on frames, and no shot is shorter than a few."""
    last = max(1, round(clip_seconds * source.fps))
    bounds = [0]
    for frame in sorted({round(cut * source.fps) for cut in cuts}):
        if bounds[-1] + MIN_SHOT_FRAMES <= frame <= last - MIN_SHOT_FRAMES:
            bounds.append(frame)
    times = [frame / source.fps for frame in bounds] + [max(clip_seconds, 1 / source.fps)]
    ordered = sorted(seen, key=lambda sample: sample.seconds)
    shots = []
    for at, (start, end) in enumerate(pairwise(times)):
        # A sample at a bound shows the later shot. One that lies a little before it may be rounded to it.
        early, late = start - 0.5 / source.fps, end - 0.5 / source.fps
        last_one = at + 2 == len(times)
        inside = tuple(each for each in ordered if early <= each.seconds and (each.seconds < late or last_one))
        shots.append(_Shot(start, end, inside, tuple(find_tracks(inside))))
    return shots


def _scene(shot: _Shot, source: Source, *, labels: Sequence[str | None], talking: Talking) -> Scene:
    window = source.window()
    if window[0] * window[1] >= NEARLY_ALL * source.width * source.height:
        return _cropped(shot, source, _faces_wish(shot, _joint(shot), source))
    lasting = shot.lasting()
    if _is_screen(shot, lasting):
        return _whole(shot, source)
    if not shot.tracks:
        return _cropped(shot, source, [])
    if len(lasting) >= 2 and _fit_together(shot, lasting, source):
        return _cropped(shot, source, _faces_wish(shot, lasting, source))
    voices = talkers(talking, start_seconds=shot.start_seconds, end_seconds=shot.end_seconds)
    speaking = [at for at in lasting if not talking or may_speak(labels[at], voices=voices, told=labels)]
    pair = _pair(shot, speaking)
    if pair and (not talking or len(voices) > 1) and shot.seconds >= MIN_SPLIT_SECONDS:
        return _split(shot, source, pair)
    told = [at for at in speaking if labels[at] is not None]
    main = (told or speaking or lasting or [0])[0]
    return _cropped(shot, source, _faces_wish(shot, [main], source))


def _is_screen(shot: _Shot, lasting: Sequence[int]) -> bool:
    screens = sum(sample.is_screen for sample in shot.seen)
    large = any(shot.tracks[at].place.height >= DOMINANT_HEIGHT for at in lasting)
    return 2 * screens > len(shot.seen) and not large


def _pair(shot: _Shot, speaking: Sequence[int]) -> list[int] | None:
    """Two that may share the picture, from left to right; of three and more nobody can say which two."""
    similar = [at for at in speaking if shot.tracks[at].weight >= SIMILAR * shot.tracks[speaking[0]].weight]
    if len(similar) != 2:
        return None
    return sorted(similar, key=lambda at: (shot.tracks[at].place.x, shot.tracks[at].place.y))


def _joint(shot: _Shot) -> list[int]:
    return shot.lasting() or [0] * bool(shot.tracks)


def _boxes_at(shot: _Shot, which: Sequence[int]) -> list[tuple[float, list[Box]]]:
    found: dict[float, list[Box]] = {}
    for at in which:
        track = shot.tracks[at]
        for seconds, box in zip(track.seconds, track.boxes, strict=True):
            found.setdefault(seconds, []).append(box)
    return sorted(found.items())


def _fit_together(shot: _Shot, which: Sequence[int], source: Source) -> bool:
    width, height = source.window()
    fits = [
        _reach(boxes, source.width, is_down=False) <= TOGETHER * width
        and _reach(boxes, source.height, is_down=True) <= TOGETHER * height
        for _, boxes in _boxes_at(shot, which)
    ]
    return sum(fits) >= TOGETHER * len(fits)


def _reach(boxes: Sequence[Box], pixels: int, *, is_down: bool) -> float:
    low, high = _extent(boxes, pixels, is_down=is_down)
    return high - low


def _extent(boxes: Sequence[Box], pixels: int, *, is_down: bool) -> tuple[float, float]:
    if is_down:
        return min(box.y for box in boxes) * pixels, max(box.y + box.height for box in boxes) * pixels
    return min(box.x for box in boxes) * pixels, max(box.x + box.width for box in boxes) * pixels


_Wishes = list[tuple[PanTarget, PanTarget]]  # across and down


def _faces_wish(shot: _Shot, which: Sequence[int], source: Source) -> _Wishes:
    """These faces in the window; while none of them is there, the weightiest of those that are."""
    boxes = dict(_boxes_at(shot, which))
    known = list(boxes)
    for track in (track for at, track in enumerate(shot.tracks) if at not in which):
        for seconds, box in zip(track.seconds, track.boxes, strict=True):
            if all(abs(seconds - each) > BRIDGED_SECONDS for each in known):
                boxes.setdefault(seconds, [box])
    return [
        (
            PanTarget(seconds, *_extent(found, source.width, is_down=False)),
            PanTarget(seconds, *_extent(found, source.height, is_down=True)),
        )
        for seconds, found in sorted(boxes.items())
    ]


def _cropped(shot: _Shot, source: Source, wishes: _Wishes) -> Scene:
    window = source.window()
    pane = _face_pane(shot, source, window, wishes=wishes) if wishes else _interest_pane(shot, source, window)
    return Scene(shot.start_seconds, shot.end_seconds, Fit.CROP, (pane,))


def _whole(shot: _Shot, source: Source) -> Scene:
    pane = Pane(_even(source.width), _even(source.height), (Key(shot.start_seconds, 0.0, 0.0),))
    return Scene(shot.start_seconds, shot.end_seconds, Fit.WHOLE, (pane,))


def _split(shot: _Shot, source: Source, pair: Sequence[int]) -> Scene:
    places = [shot.tracks[at].place for at in pair]
    size = _pane_size(source, places)
    panes = tuple(_face_pane(shot, source, size, wishes=_only(shot, at, source)) for at in pair)
    return Scene(shot.start_seconds, shot.end_seconds, Fit.SPLIT, panes)


def _only(shot: _Shot, at: int, source: Source) -> _Wishes:
    alone = _Shot(shot.start_seconds, shot.end_seconds, shot.seen, (shot.tracks[at],))
    return _faces_wish(alone, [0], source)


def _pane_size(source: Source, places: Sequence[Box]) -> tuple[int, int]:
    """A head and shoulders: with both faces in the middle of their panes, and neither in the other's."""
    across, down = source.half()
    most = source.fitting(across, down)
    tallest = max(place.height for place in places) * source.height
    widest = max(place.width for place in places) * source.width
    one, two = ((place.x + place.width / 2) * source.width for place in places)
    apart = 2 * abs(one - two) - widest
    to_the_edge = 2 * min(one, two, source.width - one, source.width - two)
    least = max(1.4 * tallest, MIN_PANE * source.height, 1.4 * widest * down / across)
    wanted = min(PANE_FACES * tallest, min(apart, to_the_edge) * down / across)
    height = min(max(wanted, least), most[1])
    return min(_even(height * across / down), most[0]), _even(height)


def _rooms(source: Source, window: tuple[int, int]) -> tuple[Room, Room]:
    speed = MAX_SPEED * window[0] * source.fps
    if window[0] < source.width - 1 and window[1] < source.height - 1:
        speed /= sqrt(2)  # both ways at once are no faster than one
    across = Room(window[0], source.width, speed)
    return across, Room(window[1], source.height, speed, aim=UPRIGHT_AIM)


def _face_pane(shot: _Shot, source: Source, window: tuple[int, int], *, wishes: _Wishes) -> Pane:
    ways = []
    for at, room in enumerate(_rooms(source, window)):
        along = [pair[at] for pair in wishes]
        place = 0.0 if room.last <= 0 else still(along, room)
        if place is not None:
            ways.append([(shot.start_seconds, place)])
        else:
            ways.append(follow(along, room, start_seconds=shot.start_seconds, end_seconds=shot.end_seconds))
    return Pane(window[0], window[1], keys(ways[0], ways[1]))


def _interest_pane(shot: _Shot, source: Source, window: tuple[int, int]) -> Pane:
    across, down = _rooms(source, window)
    wishes = _interest(shot, source, across)
    middles = sorted(wish.middle for wish in wishes)
    spread = middles[len(middles) * 9 // 10] - middles[len(middles) // 10] if middles else 0.0
    if spread > INTEREST_SPREAD * across.window:
        way = follow(wishes, across, start_seconds=shot.start_seconds, end_seconds=shot.end_seconds)
    else:
        way = [(shot.start_seconds, median_place(wishes, across) if wishes else across.last / 2)]
    return Pane(window[0], window[1], keys(way, [(shot.start_seconds, down.last / 2)]))


def _interest(shot: _Shot, source: Source, room: Room) -> list[PanTarget]:
    """The mean over some time, since single samples jump."""
    half = INTEREST_WIDTH * room.window / 2
    found = []
    for sample in shot.seen:
        near = [each.interest_x for each in shot.seen if abs(each.seconds - sample.seconds) <= INTEREST_MEAN_SECONDS]
        middle = min(max(sum(near) / len(near), 0.0), 1.0) * source.width
        found.append(PanTarget(sample.seconds, middle - half, middle + half))
    return found
