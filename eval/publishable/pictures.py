"""Renders everything that readers see of a talk: its thumbnails and its shorts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cutroom.engines.registry import Engines
from cutroom.products.shorts.edit import SelectedOutput
from eval.publishable.shorts import RenderedShort, choose_talk_shorts, described, plan_short, render_short, with_covers
from eval.publishable.talk_video import TalkVideo, render_video
from eval.publishable.thumbnails import JUDGED, TalkThumbnail, draft_thumbnails, write_headline
from eval.publishable.verdicts import JudgedPicture
from eval.talks import EvaluationTalk


@dataclass(frozen=True, slots=True)
class TalkDecisions:
    """What is decided about a talk without its pictures."""

    talk: EvaluationTalk
    headline: str
    shorts: tuple[SelectedOutput, ...]

    def judged(self) -> list[JudgedPicture]:
        slug = self.talk.slug
        thumbnails = [JudgedPicture(slug, "thumbnail", number, self.headline) for number in range(1, JUDGED + 1)]
        shorts = [
            JudgedPicture(slug, "short", number, described(short)) for number, short in enumerate(self.shorts, start=1)
        ]
        return thumbnails + shorts


@dataclass(frozen=True, slots=True)
class TalkPictures:
    """The rendered drafts of a talk."""

    decisions: TalkDecisions
    video: TalkVideo
    thumbnails: tuple[TalkThumbnail, ...]
    shorts: tuple[RenderedShort, ...]

    def judged(self) -> list[JudgedPicture]:
        """As `TalkDecisions.judged`, with the decisions of the rendering."""
        slug = self.decisions.talk.slug
        thumbnails = [
            JudgedPicture(slug, "thumbnail", number, each.headline, each.decisions)
            for number, each in enumerate(self.thumbnails, start=1)
        ]
        shorts = [
            JudgedPicture(slug, "short", number, described(each.planned.selection), each.planned.decisions)
            for number, each in enumerate(self.shorts, start=1)
        ]
        return thumbnails + shorts


def decide(talks: Sequence[EvaluationTalk], engines: Engines) -> list[TalkDecisions]:
    """Headlines and clips; needs no rendering."""
    writer = engines.writer()
    return [
        TalkDecisions(talk, write_headline(talk, writer), tuple(choose_talk_shorts(talk, engines))) for talk in talks
    ]


async def render_pictures(decisions: TalkDecisions, engines: Engines, *, folder: Path) -> TalkPictures:
    """Writes videos and covers below the folder."""
    talk = decisions.talk
    video = render_video(talk, folder=_new(folder / talk.slug))
    thumbnails = await draft_thumbnails(
        talk, video, headline=decisions.headline, engines=engines, folder=_new(folder / talk.slug / "stills")
    )
    outputs = [_new(folder / talk.slug / f"short-{number}") for number in range(len(decisions.shorts))]
    planned = [
        await plan_short(talk, video, short, engines=engines, folder=output)
        for short, output in zip(decisions.shorts, outputs, strict=True)
    ]
    shorts = [
        await render_short(short, folder=output) for short, output in zip(with_covers(planned), outputs, strict=True)
    ]
    return TalkPictures(decisions, video, tuple(thumbnails), tuple(shorts))


def _new(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
