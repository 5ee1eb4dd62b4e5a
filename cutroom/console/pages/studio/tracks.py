"""Which dub or captions the studio shows beside the transcript, and what bringing them up to date costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutroom.console.framework.page_context import PageContext
from cutroom.console.framework.recipes import may_produce
from cutroom.console.framework.rendering import format_credits, language_name
from cutroom.console.pages.studio.rows import StudioLine, caption_line, dub_line
from cutroom.errors import not_found
from cutroom.jobs.ids import DubProduct
from cutroom.products.captions.editing import routes as caption_segments
from cutroom.products.captions.editing.schemas import CaptionSegments
from cutroom.products.captions.service import list_caption_languages
from cutroom.products.dubs import routes as dubs
from cutroom.products.dubs.editing import routes as dub_segments
from cutroom.products.dubs.editing.schemas import DubSegments
from cutroom.text.language_tags import canonical_language

COMPLETE = "complete"
UNFINISHED = frozenset({"queued", "processing"})


class StudioTrackKind(StrEnum):
    """What is beside the transcript; dubs by their product."""

    PLUS = DubProduct.PLUS.value
    PREMIUM = DubProduct.PREMIUM.value
    CAPTIONS = "captions"

    @property
    def is_dub(self) -> bool:
        return self is not StudioTrackKind.CAPTIONS


_NAMES = {
    StudioTrackKind.PLUS: "dub",
    StudioTrackKind.PREMIUM: "dub, cloned voices",
    StudioTrackKind.CAPTIONS: "captions",
}


@dataclass(frozen=True, slots=True)
class StudioChoice:
    """A finished dub or captions of a video."""

    language: str
    kind: StudioTrackKind

    @property
    def value(self) -> str:
        """As the page's query names it: `pt:plus`."""
        return f"{self.language}:{self.kind.value}"

    @property
    def label(self) -> str:
        return f"{language_name(self.language)} {_NAMES[self.kind]}"


@dataclass(frozen=True, slots=True)
class StudioTrack:
    """The lines of a dub or of captions, and what is stale."""

    choice: StudioChoice
    revision: int
    version: str  # changes whenever lines change otherwise than by an edit of the transcript
    lines: Sequence[StudioLine]
    stale: int
    price: str | None = None  # the label of the button that brings stale lines up to date
    job: str | None = None  # what is being made now, in words
    problem: str | None = None  # why the last regeneration failed

    def to_json(self) -> dict[str, Any]:
        return {
            "value": self.choice.value,
            "isDub": self.choice.kind.is_dub,
            "revision": self.revision,
            "version": self.version,
            "stale": self.stale,
            "price": self.price,
            "job": self.job,
            "problem": self.problem,
        }


async def load_choices(context: PageContext, video_id: str) -> list[StudioChoice]:
    """The finished dubs and captions of a video, by language."""
    made = (await context.call_operation(dubs.list_dubs, video_id)).dubs
    found = [
        StudioChoice(each.language, StudioTrackKind(each.product))
        for each in made
        if each.status == COMPLETE and each.completion == COMPLETE
    ]
    languages = await list_caption_languages(context.call.connection, context.principal.library_id, video_id)
    found += [StudioChoice(each, StudioTrackKind.CAPTIONS) for each in languages]
    order = list(StudioTrackKind)
    return sorted(found, key=lambda each: (language_name(each.language), order.index(each.kind)))


def choose(choices: Sequence[StudioChoice], wanted: str) -> StudioChoice | None:
    """The choice that `pt` or `pt:captions` names; raises NOT_FOUND if there is none."""
    if not wanted:
        return None
    language, _, kind = wanted.partition(":")
    language = canonical_language(language)
    for each in choices:
        if each.language == language and kind in {"", each.kind.value}:
            return each
    raise not_found()


async def load_track(context: PageContext, video_id: str, choice: StudioChoice) -> StudioTrack:
    is_priced = may_produce(context.principal) and context.guest is None
    if choice.kind.is_dub:
        product = DubProduct(choice.kind.value)
        lines = await context.call_operation(dub_segments.list_segments, video_id, choice.language, product)
        return _dub_track(choice, lines, is_priced=is_priced)
    captions = await context.call_operation(caption_segments.get_caption_segments, video_id, choice.language)
    return _caption_track(choice, captions, is_priced=is_priced)


def _dub_track(choice: StudioChoice, found: DubSegments, *, is_priced: bool) -> StudioTrack:
    job, count = found.job, len(found.regeneration.segment_ids)
    is_running = job is not None and job.status in UNFINISHED
    version = (found.revision, found.published_transcript_revision, job.id if job else "", job.status if job else "")
    return StudioTrack(
        choice,
        found.revision,
        ".".join(map(str, version)),
        [dub_line(each) for each in found.segments],
        count,
        _price("Regenerate", count, found.regeneration.credits) if is_priced and count and not is_running else None,
        f"Regenerating, {job.progress} %" if job is not None and is_running else None,
        _problem(job.error) if job is not None and job.status == "failed" else None,
    )


def _caption_track(choice: StudioChoice, found: CaptionSegments, *, is_priced: bool) -> StudioTrack:
    count = found.stale_segments
    return StudioTrack(
        choice,
        found.revision,
        str(found.revision),
        [caption_line(each) for each in found.segments],
        count,
        _price("Update", count, found.regeneration.credits) if is_priced and count else None,
    )


def _problem(error: dict[str, Any] | None) -> str | None:
    return f"The last regeneration failed: {error['message']}" if error else None


def _price(verb: str, count: int, amount: float) -> str:
    return f"{verb} {count} {'line' if count == 1 else 'lines'} · {format_credits(amount) if amount else 'Free'}"
