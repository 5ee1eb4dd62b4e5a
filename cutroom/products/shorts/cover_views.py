"""Selects the frames that covers show: prominent faces with open eyes, and another view on each cover of a request."""

from collections.abc import Sequence
from dataclasses import replace

from cutroom.engines.types import Box
from cutroom.engines.vision.expressions import FaceExpression
from cutroom.engines.vision.port import Face
from cutroom.products.shorts.edit import CoverView, Edit
from cutroom.products.shorts.framing.tracks import FrameAnalysis, iou, prominence

THUMBNAIL_MIN_FRACTION = 0.15  # of an output; its first frames are rarely representative
MIN_COVER_PROMINENCE = 0.2  # of the most prominent face
MIN_VIEW_PROMINENCE = 0.7  # of the most prominent frame of a view, to be shown instead of it
SAME_VIEW = 0.5  # intersection over union of two faces
# Of covers with the same view, in order.
ZOOMS = (1.0, 1.5, 1.25)


def find_views(frames: Sequence[FrameAnalysis], seconds: float) -> tuple[CoverView, ...]:
    """The views of an output, the most prominent first. A view is a place and size at which faces appear."""
    candidates = [each for each in frames if each.faces and each.seconds >= THUMBNAIL_MIN_FRACTION * seconds]
    views: list[FrameAnalysis] = []
    for each in sorted(candidates, key=lambda frame: prominence(_main_face(frame)), reverse=True):
        face, others = _main_face(each), [_main_face(view) for view in views]
        is_prominent = not others or prominence(face) >= MIN_COVER_PROMINENCE * prominence(others[0])
        if is_prominent and all(iou(face.box, other.box) < SAME_VIEW for other in others):
            views.append(each)
    shown = [_best_expression(view, candidates) for view in views]
    shown = [each for each in shown if not _expression(each).has_closed_eyes] or shown
    return tuple(CoverView(each.seconds, _main_face(each).box) for each in shown)


def choose_covers(edits: Sequence[Edit]) -> list[Edit]:
    """The edits of one request with their covers chosen together.

    An edit with fewer views chooses first. Covers that cannot differ by view differ by zoom.
    """
    chosen = list(edits)
    used: list[Box] = []
    for index in sorted(range(len(edits)), key=lambda each: len(edits[each].cover_views)):
        views = edits[index].cover_views
        if not views:
            continue
        repeats = [sum(iou(view.face, other) >= SAME_VIEW for other in used) for view in views]
        fewest = min(repeats)
        view = views[repeats.index(fewest)]
        used.append(view.face)
        chosen[index] = replace(edits[index], thumbnail_seconds=view.seconds, cover_zoom=ZOOMS[fewest % len(ZOOMS)])
    return chosen


def _best_expression(view: FrameAnalysis, candidates: Sequence[FrameAnalysis]) -> FrameAnalysis:
    """The frame itself, or one of the same view in which the face neither blinks nor is in the middle of a word."""
    if not _flaws(view):
        return view
    face = _main_face(view)
    near = [
        each
        for each in candidates
        if iou(_main_face(each).box, face.box) >= SAME_VIEW
        and prominence(_main_face(each)) >= MIN_VIEW_PROMINENCE * prominence(face)
    ]
    return min(near, key=lambda each: (_flaws(each), -prominence(_main_face(each))))


def _main_face(frame: FrameAnalysis) -> Face:
    return max(frame.faces, key=prominence)


def _expression(frame: FrameAnalysis) -> FaceExpression:
    return frame.expression_of(_main_face(frame))


def _flaws(frame: FrameAnalysis) -> int:
    """0 for a good expression, 1 in the middle of a word, 2 with closed eyes."""
    expression = _expression(frame)
    return 2 if expression.has_closed_eyes else int(expression.is_mid_word)
