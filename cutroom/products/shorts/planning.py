"""From what was chosen and what was seen to an edit: times, framing, captions, and the picture that stands for it."""

from collections.abc import Sequence

from cutroom.engines.types import TimeSpan
from cutroom.media.crop_plan import CropPlan, Fit, Key, Pane, Scene
from cutroom.media.probe import MediaInfo
from cutroom.media.shorts import shown_rate, shown_size
from cutroom.products.shorts.captions.ass import CaptionTrack, write_captions
from cutroom.products.shorts.captions.lines import group_words
from cutroom.products.shorts.captions.zones import Area
from cutroom.products.shorts.edit import Chosen, Edit, TimedBox
from cutroom.products.shorts.face_boxes import shown_faces
from cutroom.products.shorts.framing.planner import Source, plan_crops
from cutroom.products.shorts.framing.tracks import FrameAnalysis
from cutroom.products.shorts.rules import SIZES, Aspect, Kind, ShortsOptions
from cutroom.products.shorts.timeline import Timeline
from cutroom.products.shorts.transcript_view import TranscriptView
from cutroom.products.shorts.visual_analysis import VisualAnalysis

NO_PICTURE = CaptionTrack("", ())
BEST_AFTER = 0.15  # of an output: a picture from its first moments seldom stands for it


def timeline_of(chosen: Chosen, info: MediaInfo) -> Timeline:
    spans = [(span.start_seconds, span.end_seconds) for span in chosen.spans]
    return Timeline.of(spans, rate=shown_rate(info))


def plan_edit(
    heard: TranscriptView, timeline: Timeline, info: MediaInfo, *, watched: VisualAnalysis, wanted: ShortsOptions
) -> Edit:
    width, height = SIZES[wanted.aspect]
    crop = _crop(heard, timeline, info, watched=watched, aspect=wanted.aspect)
    faces = shown_faces(crop, watched.seen, width=width, height=height)
    track = NO_PICTURE
    if wanted.kind is not Kind.CLIPS:  # long excerpts are watched with the player's own subtitles
        words, speakers = timeline.words(heard.words, heard.speakers)
        look, language = wanted.look, heard.language
        screens = group_words(words, look=look, width=width, height=height, language=language, speakers=speakers)
        track = write_captions(
            screens,
            look=look,
            position=wanted.position,
            width=width,
            height=height,
            language=language,
            faces=faces,
        )
    return Edit(
        crop=crop,
        captions=track.ass,
        caption_boxes=tuple(_timed(span, box) for span, box in track.boxes),
        faces=tuple(_timed(span, box) for span, box in faces),
        thumbnail_seconds=_best(watched.seen, timeline.seconds),
    )


def _crop(
    heard: TranscriptView, timeline: Timeline, info: MediaInfo, *, watched: VisualAnalysis, aspect: Aspect
) -> CropPlan:
    rate = float(shown_rate(info))
    width, height = SIZES[aspect] if info.media_type == "audio" else shown_size(info)
    if not watched.seen:
        pane = Pane(width, height, (Key(0.0, 0.0, 0.0),))
        same = width * SIZES[aspect][1] == height * SIZES[aspect][0]
        return CropPlan(width, height, rate, (Scene(0.0, timeline.seconds, Fit.CROP if same else Fit.WHOLE, (pane,)),))
    across, down = (int(side) for side in aspect.value.split(":"))
    source = Source(width, height, rate, (across, down))
    talking = list(heard.talking(timeline))
    return plan_crops(watched.seen, source, cuts=watched.cuts, clip_seconds=timeline.seconds, talking=talking)


def _timed(span: TimeSpan, box: Area) -> TimedBox:
    return (span.start_seconds, span.end_seconds, box.left, box.top, box.right, box.bottom)


def _best(seen: Sequence[FrameAnalysis], seconds: float) -> float:
    """Where the largest face is seen most surely; else a third into it."""
    later = [each for each in seen if each.seconds >= BEST_AFTER * seconds]
    best = max(later, key=_promise, default=None)
    return best.seconds if best is not None and best.faces else seconds / 3


def _promise(seen: FrameAnalysis) -> float:
    return max((face.score * face.box.width * face.box.height for face in seen.faces), default=0.0)
