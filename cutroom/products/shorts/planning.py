"""Plans the edit of an output: timeline, crops, captions and thumbnail time."""

from cutroom.engines.types import TimeSpan
from cutroom.media.crop_plan import CropPane, CropPlan, CropScene, Keyframe, SceneFit
from cutroom.media.probe import MediaInfo
from cutroom.media.shorts import display_frame_rate, display_size
from cutroom.products.shorts.captions.ass import CaptionTrack, write_captions
from cutroom.products.shorts.captions.safe_zones import FrameRegion
from cutroom.products.shorts.captions.screens import group_into_screens
from cutroom.products.shorts.cover_views import find_views
from cutroom.products.shorts.edit import Edit, SelectedOutput, TimedBox
from cutroom.products.shorts.face_boxes import visible_faces
from cutroom.products.shorts.framing.planner import CropSource, plan_crops
from cutroom.products.shorts.rules import OUTPUT_SIZES, AspectRatio, ShortsKind, ShortsOptions
from cutroom.products.shorts.timeline import Timeline
from cutroom.products.shorts.transcript_view import TranscriptView
from cutroom.products.shorts.visual_analysis import VisualAnalysis

NO_CAPTIONS = CaptionTrack("", ())


def make_timeline(selection: SelectedOutput, info: MediaInfo) -> Timeline:
    return Timeline.of(selection.heard, rate=display_frame_rate(info))


def plan_edit(
    transcript: TranscriptView,
    timeline: Timeline,
    info: MediaInfo,
    *,
    visuals: VisualAnalysis,
    options: ShortsOptions,
) -> Edit:
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
    views = find_views(visuals.frames, timeline.seconds)
    return Edit(
        crop=crop,
        captions=captions.ass,
        caption_boxes=tuple(_timed_box(span, box) for span, box in captions.boxes),
        faces=tuple(_timed_box(span, box) for span, box in faces),
        thumbnail_seconds=views[0].seconds if views else timeline.seconds / 3,
        cover_views=views,
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
