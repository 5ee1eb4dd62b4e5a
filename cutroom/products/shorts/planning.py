"""Plans the edit of an output: timeline, crops, captions and thumbnail time."""

from collections.abc import Sequence

from cutroom.engines.types import TimeSpan
from cutroom.engines.vision.expressions import FaceExpression
from cutroom.engines.vision.port import Face
from cutroom.media.crop_plan import CropPane, CropPlan, CropScene, Keyframe, SceneFit
from cutroom.media.probe import MediaInfo
from cutroom.media.shorts import display_frame_rate, display_size
from cutroom.products.shorts.captions.ass import CaptionTrack, write_captions
from cutroom.products.shorts.captions.safe_zones import FrameRegion
from cutroom.products.shorts.captions.screens import group_into_screens
from cutroom.products.shorts.edit import Edit, SelectedOutput, TimedBox
from cutroom.products.shorts.face_boxes import visible_faces
from cutroom.products.shorts.framing.planner import CropSource, plan_crops
from cutroom.products.shorts.framing.tracks import FrameAnalysis, iou, prominence
from cutroom.products.shorts.rules import OUTPUT_SIZES, AspectRatio, ShortsKind, ShortsOptions
from cutroom.products.shorts.timeline import Timeline
from cutroom.products.shorts.transcript_view import TranscriptView
from cutroom.products.shorts.visual_analysis import VisualAnalysis

NO_CAPTIONS = CaptionTrack("", ())
THUMBNAIL_MIN_FRACTION = 0.15  # of an output; its first frames are rarely representative
MIN_COVER_PROMINENCE = 0.2  # of the most prominent face
MIN_VIEW_PROMINENCE = 0.7  # of the most prominent frame of a view, to be shown instead of it
SAME_VIEW = 0.5  # intersection over union of two faces


def make_timeline(selection: SelectedOutput, info: MediaInfo) -> Timeline:
    spans = [(span.start_seconds, span.end_seconds) for span in selection.spans]
    return Timeline.of(spans, rate=display_frame_rate(info))


def plan_edit(
    transcript: TranscriptView,
    timeline: Timeline,
    info: MediaInfo,
    *,
    visuals: VisualAnalysis,
    options: ShortsOptions,
    number: int = 0,
) -> Edit:
    """Plans the output with this number of its request."""
    width, height = OUTPUT_SIZES[options.aspect_ratio]
    crop = _crop(transcript, timeline, info, visuals=visuals, aspect=options.aspect_ratio)
    faces = visible_faces(crop, visuals.frames, width=width, height=height)
    captions = NO_CAPTIONS
    if options.kind is not ShortsKind.CLIPS:  # long excerpts use the player's own subtitles
        words, speakers = timeline.words(transcript.words, transcript.speakers)
        caption_style, language = options.caption_style, transcript.language
        screens = group_into_screens(
            words, caption_style=caption_style, width=width, height=height, language=language, speakers=speakers
        )
        captions = write_captions(
            screens,
            caption_style=caption_style,
            position=options.caption_position,
            width=width,
            height=height,
            language=language,
            faces=faces,
        )
    return Edit(
        crop=crop,
        captions=captions.ass,
        caption_boxes=tuple(_timed_box(span, box) for span, box in captions.boxes),
        faces=tuple(_timed_box(span, box) for span, box in faces),
        thumbnail_seconds=cover_time(visuals.frames, timeline.seconds, number=number),
    )


def _crop(
    transcript: TranscriptView, timeline: Timeline, info: MediaInfo, *, visuals: VisualAnalysis, aspect: AspectRatio
) -> CropPlan:
    rate = float(display_frame_rate(info))
    width, height = OUTPUT_SIZES[aspect] if info.media_type == "audio" else display_size(info)
    if not visuals.frames:
        pane = CropPane(width, height, (Keyframe(0.0, 0.0, 0.0),))
        has_same_aspect = width * OUTPUT_SIZES[aspect][1] == height * OUTPUT_SIZES[aspect][0]
        return CropPlan(
            width,
            height,
            rate,
            (CropScene(0.0, timeline.seconds, SceneFit.CROP if has_same_aspect else SceneFit.CONTAIN, (pane,)),),
        )
    aspect_width, aspect_height = (int(side) for side in aspect.value.split(":"))
    source = CropSource(width, height, rate, (aspect_width, aspect_height))
    turns = list(transcript.speaker_turns(timeline))
    return plan_crops(visuals.frames, source, cuts=visuals.cuts, clip_seconds=timeline.seconds, turns=turns)


def _timed_box(span: TimeSpan, box: FrameRegion) -> TimedBox:
    return (span.start_seconds, span.end_seconds, box.left, box.top, box.right, box.bottom)


def cover_time(frames: Sequence[FrameAnalysis], seconds: float, *, number: int) -> float:
    """Time of a prominent face with open eyes, or a third into the output.

    Outputs are planned independently. To make their covers differ, each takes another view by its number, where a
    view is a place and size at which faces appear.
    """
    candidates = [each for each in frames if each.faces and each.seconds >= THUMBNAIL_MIN_FRACTION * seconds]
    views: list[FrameAnalysis] = []
    for each in sorted(candidates, key=lambda frame: prominence(_main_face(frame)), reverse=True):
        face, others = _main_face(each), [_main_face(view) for view in views]
        is_prominent = not others or prominence(face) >= MIN_COVER_PROMINENCE * prominence(others[0])
        if is_prominent and all(iou(face.box, other.box) < SAME_VIEW for other in others):
            views.append(each)
    shown = [_best_expression(view, candidates) for view in views]
    shown = [each for each in shown if not _expression(each).has_closed_eyes] or shown
    return shown[number % len(shown)].seconds if shown else seconds / 3


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
