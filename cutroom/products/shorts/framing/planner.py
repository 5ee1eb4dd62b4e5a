"""Plans what each shot shows: one crop window, a split screen, or the whole frame.

A window jumps only at cuts. Within a shot it rests if possible, and else follows (`paths`). Two faces that do not fit
into one window get a split screen if both speak in the shot, or may do so (`tracks`, `mouths`). Frames full of text
and faces larger than the window are shown whole. Without faces, the window follows saliency.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

from cutroom.engines.types import Box
from cutroom.media.crop_plan import CropPane, CropPlan, CropScene, Keyframe, SceneFit
from cutroom.products.shorts.framing.mouths import assign_by_mouths
from cutroom.products.shorts.framing.paths import (
    MAX_SPEED,
    PanAxis,
    PanTarget,
    follow_targets,
    median_position,
    static_position,
    to_keyframes,
)
from cutroom.products.shorts.framing.tracks import (
    MAX_GAP_SECONDS,
    FaceTrack,
    FrameAnalysis,
    SpeakerTurns,
    active_speakers,
    assign_speakers,
    may_be_speaking,
    speaking_seconds,
    track_faces,
)

ASPECTS = {"9:16": (9, 16), "1:1": (1, 1), "16:9": (16, 9)}
PERSISTENT_FRACTION = 0.5  # of a shot's samples in which a face must appear to matter
DOMINANT_HEIGHT = 0.25  # of the frame; a face this tall makes a screen its background
MIN_WEIGHT_RATIO = 0.3  # of the larger face's weight, for a split screen
MIN_SPLIT_SECONDS = 1.5
FIT_FRACTION = 0.9  # of the window that two faces may fill, and of the samples in which they must fit
FULL_FRAME_FRACTION = 0.9  # of the frame; a window this large crops even a screen
MIN_SHOT_FRAMES = 2
FACE_HEIGHT_AIM = 0.42  # preferred vertical position of a face in the window
PANE_FACE_HEIGHTS = 2.6  # height of a pane relative to its face
MIN_PANE_HEIGHT = 0.34  # of the frame height; smaller panes would look pixelated
SALIENCY_SPREAD = 0.35  # of a window; below this, a static window is used
SALIENCY_WIDTH = 0.1  # of a window; width of a saliency target
SALIENCY_MEAN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class CropSource:
    """The source video, and the output `aspect` as width to height."""

    width: int
    height: int
    fps: float
    aspect: tuple[int, int]

    def window(self) -> tuple[int, int]:
        """The largest window of even size with the output aspect ratio."""
        return self.largest_fit(*self.aspect)

    def largest_fit(self, across: int, down: int) -> tuple[int, int]:
        if self.width * down > self.height * across:
            return _even(self.height * across / down), _even(self.height)
        return _even(self.width), _even(self.width * down / across)

    @property
    def is_stacked(self) -> bool:
        return self.aspect[1] > self.aspect[0]

    def pane_aspect(self) -> tuple[int, int]:
        """Aspect ratio of one pane of a split screen."""
        across, down = self.aspect
        return (2 * across, down) if self.is_stacked else (across, 2 * down)


@dataclass(frozen=True, slots=True)
class _Shot:
    start_seconds: float
    end_seconds: float
    frames: tuple[FrameAnalysis, ...]
    tracks: tuple[FaceTrack, ...]

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds

    def persistent(self) -> list[int]:
        min_height = PERSISTENT_FRACTION * len(self.frames)
        return [index for index, track in enumerate(self.tracks) if len(track.boxes) >= min_height]


def plan_crops(
    frames: Sequence[FrameAnalysis],
    source: CropSource,
    *,
    cuts: Sequence[float],
    clip_seconds: float,
    turns: SpeakerTurns = (),
) -> CropPlan:
    """One scene per shot; times are relative to the start of the clip."""
    shots = _shots(frames, source, cuts=cuts, clip_seconds=clip_seconds)
    tracks = [shot.tracks for shot in shots]
    labels_by_shot = assign_by_mouths(tracks, turns, assign_speakers(tracks, turns))
    scenes = [
        _plan_scene(shot, source, labels=labels, turns=turns)
        for shot, labels in zip(shots, labels_by_shot, strict=True)
    ]
    return CropPlan(source.width, source.height, source.fps, tuple(scenes))


def _even(length: float) -> int:
    return max(2, int(length + 1e-6) // 2 * 2)


def _shots(
    frames: Sequence[FrameAnalysis], source: CropSource, *, cuts: Sequence[float], clip_seconds: float
) -> list[_Shot]:
    """Shot boundaries on frames, with a minimum shot length."""
    last = max(1, round(clip_seconds * source.fps))
    bounds = [0]
    for frame in sorted({round(cut * source.fps) for cut in cuts}):
        if bounds[-1] + MIN_SHOT_FRAMES <= frame <= last - MIN_SHOT_FRAMES:
            bounds.append(frame)
    times = [frame / source.fps for frame in bounds] + [max(clip_seconds, 1 / source.fps)]
    ordered = sorted(frames, key=lambda sample: sample.seconds)
    shots = []
    for index, (start, end) in enumerate(pairwise(times)):
        # A sample at a boundary shows the later shot; half a frame of tolerance absorbs rounding.
        early, late = start - 0.5 / source.fps, end - 0.5 / source.fps
        is_last = index + 2 == len(times)
        shot_frames = tuple(each for each in ordered if early <= each.seconds and (each.seconds < late or is_last))
        shots.append(_Shot(start, end, shot_frames, tuple(track_faces(shot_frames))))
    return shots


def _plan_scene(shot: _Shot, source: CropSource, *, labels: Sequence[str | None], turns: SpeakerTurns) -> CropScene:
    window = source.window()
    if window[0] * window[1] >= FULL_FRAME_FRACTION * source.width * source.height:
        return _crop_scene(shot, source, _face_targets(shot, _all_faces(shot), source))
    persistent = shot.persistent()
    if _is_screen(shot, persistent):
        return _contain_scene(shot, source)
    if not shot.tracks or (len(persistent) >= 2 and _fit_together(shot, persistent, source)):
        return _crop_scene(shot, source, _face_targets(shot, persistent, source))
    speakers = active_speakers(turns, start_seconds=shot.start_seconds, end_seconds=shot.end_seconds)
    speaking = [
        index for index in persistent if not turns or may_be_speaking(labels[index], speakers=speakers, known=labels)
    ]
    pair = _pair(shot, speaking)
    if pair and (not turns or len(speakers) > 1) and shot.seconds >= MIN_SPLIT_SECONDS:
        return _split_scene(shot, source, pair)
    seconds = speaking_seconds(turns, start_seconds=shot.start_seconds, end_seconds=shot.end_seconds)
    # The sort is stable: of those who speak as long, the most prominent face comes first.
    known_speakers = sorted(
        (index for index in speaking if labels[index] is not None), key=lambda index: -seconds[labels[index] or ""]
    )
    main = (known_speakers or speaking or persistent or [0])[0]
    if not _fit_together(shot, [main], source):
        return _contain_scene(shot, source)  # a close-up wider than the window
    return _crop_scene(shot, source, _face_targets(shot, [main], source))


def _is_screen(shot: _Shot, persistent: Sequence[int]) -> bool:
    screens = sum(sample.is_screen for sample in shot.frames)
    large = any(shot.tracks[index].position.height >= DOMINANT_HEIGHT for index in persistent)
    return 2 * screens > len(shot.frames) and not large


def _pair(shot: _Shot, speaking: Sequence[int]) -> list[int] | None:
    """Two faces for a split screen, from left to right; None if there are more candidates than two."""
    similar = [
        index for index in speaking if shot.tracks[index].weight >= MIN_WEIGHT_RATIO * shot.tracks[speaking[0]].weight
    ]
    if len(similar) != 2:
        return None
    return sorted(similar, key=lambda index: (shot.tracks[index].position.x, shot.tracks[index].position.y))


def _all_faces(shot: _Shot) -> list[int]:
    return shot.persistent() or [0] * bool(shot.tracks)


def _boxes_at(shot: _Shot, indexes: Sequence[int]) -> list[tuple[float, list[Box]]]:
    result: dict[float, list[Box]] = {}
    for index in indexes:
        track = shot.tracks[index]
        for seconds, box in zip(track.seconds, track.boxes, strict=True):
            result.setdefault(seconds, []).append(box)
    return sorted(result.items())


def _fit_together(shot: _Shot, indexes: Sequence[int], source: CropSource) -> bool:
    width, height = source.window()
    fits = [
        _length(boxes, source.width, is_down=False) <= FIT_FRACTION * width
        and _length(boxes, source.height, is_down=True) <= FIT_FRACTION * height
        for _, boxes in _boxes_at(shot, indexes)
    ]
    return sum(fits) >= FIT_FRACTION * len(fits)


def _length(boxes: Sequence[Box], pixels: int, *, is_down: bool) -> float:
    low, high = _extent(boxes, pixels, is_down=is_down)
    return high - low


def _extent(boxes: Sequence[Box], pixels: int, *, is_down: bool) -> tuple[float, float]:
    if is_down:
        return min(box.y for box in boxes) * pixels, max(box.y + box.height for box in boxes) * pixels
    return min(box.x for box in boxes) * pixels, max(box.x + box.width for box in boxes) * pixels


_PanTargets = list[tuple[PanTarget, PanTarget]]  # horizontal and vertical


def _face_targets(shot: _Shot, indexes: Sequence[int], source: CropSource) -> _PanTargets:
    """Targets for these faces; while none of them is visible, for the most prominent other face."""
    boxes = dict(_boxes_at(shot, indexes))
    known = list(boxes)
    for track in (track for index, track in enumerate(shot.tracks) if index not in indexes):
        for seconds, box in zip(track.seconds, track.boxes, strict=True):
            if all(abs(seconds - each) > MAX_GAP_SECONDS for each in known):
                boxes.setdefault(seconds, [box])
    return [
        (
            PanTarget(seconds, *_extent(result, source.width, is_down=False)),
            PanTarget(seconds, *_extent(result, source.height, is_down=True)),
        )
        for seconds, result in sorted(boxes.items())
    ]


def _crop_scene(shot: _Shot, source: CropSource, targets: _PanTargets) -> CropScene:
    window = source.window()
    pane = _face_pane(shot, source, window, targets=targets) if targets else _saliency_pane(shot, source, window)
    return CropScene(shot.start_seconds, shot.end_seconds, SceneFit.CROP, (pane,))


def _contain_scene(shot: _Shot, source: CropSource) -> CropScene:
    pane = CropPane(_even(source.width), _even(source.height), (Keyframe(shot.start_seconds, 0.0, 0.0),))
    return CropScene(shot.start_seconds, shot.end_seconds, SceneFit.CONTAIN, (pane,))


def _split_scene(shot: _Shot, source: CropSource, pair: Sequence[int]) -> CropScene:
    positions = [shot.tracks[index].position for index in pair]
    size = _pane_size(source, positions)
    panes = tuple(_face_pane(shot, source, size, targets=_single_face_targets(shot, index, source)) for index in pair)
    return CropScene(shot.start_seconds, shot.end_seconds, SceneFit.SPLIT, panes)


def _single_face_targets(shot: _Shot, index: int, source: CropSource) -> _PanTargets:
    single = _Shot(shot.start_seconds, shot.end_seconds, shot.frames, (shot.tracks[index],))
    return _face_targets(single, [0], source)


def _pane_size(source: CropSource, positions: Sequence[Box]) -> tuple[int, int]:
    """Size of a head-and-shoulders pane with its face in the center, and without the other face."""
    across, down = source.pane_aspect()
    max_size = source.largest_fit(across, down)
    tallest = max(position.height for position in positions) * source.height
    widest = max(position.width for position in positions) * source.width
    one, two = ((position.x + position.width / 2) * source.width for position in positions)
    separation_width = 2 * abs(one - two) - widest
    edge_width = 2 * min(one, two, source.width - one, source.width - two)
    min_height = max(1.4 * tallest, MIN_PANE_HEIGHT * source.height, 1.4 * widest * down / across)
    preferred_height = min(PANE_FACE_HEIGHTS * tallest, min(separation_width, edge_width) * down / across)
    height = min(max(preferred_height, min_height), max_size[1])
    return min(_even(height * across / down), max_size[0]), _even(height)


def _pan_axes(source: CropSource, window: tuple[int, int]) -> tuple[PanAxis, PanAxis]:
    speed = MAX_SPEED * window[0] * source.fps
    if window[0] < source.width - 1 and window[1] < source.height - 1:
        speed /= sqrt(2)  # bounds the diagonal speed
    across = PanAxis(window[0], source.width, speed)
    return across, PanAxis(window[1], source.height, speed, aim=FACE_HEIGHT_AIM)


def _face_pane(shot: _Shot, source: CropSource, window: tuple[int, int], *, targets: _PanTargets) -> CropPane:
    paths = []
    for index, axis in enumerate(_pan_axes(source, window)):
        axis_targets = [pair[index] for pair in targets]
        position = 0.0 if axis.last <= 0 else static_position(axis_targets, axis)
        if position is not None:
            paths.append([(shot.start_seconds, position)])
        else:
            paths.append(
                follow_targets(axis_targets, axis, start_seconds=shot.start_seconds, end_seconds=shot.end_seconds)
            )
    return CropPane(window[0], window[1], to_keyframes(paths[0], paths[1]))


def _saliency_pane(shot: _Shot, source: CropSource, window: tuple[int, int]) -> CropPane:
    across, down = _pan_axes(source, window)
    targets = _saliency_targets(shot, source, across)
    centers = sorted(target.center for target in targets)
    spread = centers[len(centers) * 9 // 10] - centers[len(centers) // 10] if centers else 0.0
    if spread > SALIENCY_SPREAD * across.window:
        path = follow_targets(targets, across, start_seconds=shot.start_seconds, end_seconds=shot.end_seconds)
    else:
        path = [(shot.start_seconds, median_position(targets, across) if targets else across.last / 2)]
    return CropPane(window[0], window[1], to_keyframes(path, [(shot.start_seconds, down.last / 2)]))


def _saliency_targets(shot: _Shot, source: CropSource, axis: PanAxis) -> list[PanTarget]:
    """Saliency targets averaged over time, because single samples are noisy."""
    half_width = SALIENCY_WIDTH * axis.window / 2
    result = []
    for sample in shot.frames:
        near = [
            each.saliency_center_x
            for each in shot.frames
            if abs(each.seconds - sample.seconds) <= SALIENCY_MEAN_SECONDS
        ]
        center = min(max(sum(near) / len(near), 0.0), 1.0) * source.width
        result.append(PanTarget(sample.seconds, center - half_width, center + half_width))
    return result
