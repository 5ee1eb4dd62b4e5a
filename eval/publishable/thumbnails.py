"""Drafts thumbnails of the evaluation talks as the product does for a request without a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.registry import Engines
from cutroom.engines.thumbnails.port import Pipeline, RenderedThumbnail, ThumbnailSpec
from cutroom.engines.writing.port import Writer
from cutroom.media.probe import probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.products.thumbnails.detection import select_best_frames
from cutroom.products.thumbnails.headlines import find_spoken_segment, frames_of_headline_first
from cutroom.products.thumbnails.rules import CANDIDATES
from eval.publishable.talk_video import TalkVideo
from eval.publishable.texts import spoken
from eval.talks import EvaluationTalk

if TYPE_CHECKING:
    from cutroom.engines.types import Image

JUDGED = 2  # the best draft and one more


@dataclass(frozen=True, slots=True)
class TalkThumbnail:
    """A draft, and the decisions behind it, which are the same on every processor."""

    headline: str
    layout: str
    shot: str  # of the frame that comes first; a layout may show another one
    rendered: RenderedThumbnail

    @property
    def image(self) -> "Image":
        return self.rendered.image

    @property
    def decisions(self) -> str:
        """What only the rendering decides."""
        return f"{self.layout}, best frame {self.shot}, “{self.rendered.headline}”"


def write_headline(talk: EvaluationTalk, writer: Writer) -> str:
    return writer.headline(spoken(talk)).text


async def draft_thumbnails(
    talk: EvaluationTalk, video: TalkVideo, *, headline: str, engines: Engines, folder: Path
) -> Sequence[TalkThumbnail]:
    """The drafts that are judged, best first."""
    sandbox = Sandbox()
    info = await probe_header(video.path, sandbox=sandbox)
    frames = await select_best_frames(
        video.path, info, output=folder, sandbox=sandbox, engines=engines, report_progress=lambda _: None
    )
    segments = [
        {"text": each.text, "start": each.start_seconds, "end": each.end_seconds} for each in spoken(talk).segments
    ]
    said = find_spoken_segment(headline, segments, language=talk.language)
    ordered = frames_of_headline_first(frames, said)
    spec = ThumbnailSpec(
        pipeline=Pipeline.CREATIVE,
        headline=headline,
        language=talk.language,
        frames=tuple(each.image for each in ordered),
    )
    rendered = engines.thumbnail_renderer().render(spec, count=CANDIDATES)
    shot = video.shot_at(ordered[0].seconds).name
    return [TalkThumbnail(headline, each.layout, shot, each) for each in rendered[:JUDGED]]
