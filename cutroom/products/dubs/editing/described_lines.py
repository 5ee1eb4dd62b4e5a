"""Describes the lines of a dub as the API shows them."""

from cutroom.capabilities.rules import stock_voice_id
from cutroom.products.dubs.editing.lines import PublishedDub
from cutroom.products.dubs.editing.schemas import DubLineFit, DubSegment, DubSegmentEdits, PublishedSpeech
from cutroom.products.dubs.editing.staleness import LineState, has_other_caption
from cutroom.products.dubs.editing.text_fit import TextFit
from cutroom.products.dubs.script import AssignedVoice

CLONE = "clone"


def described(state: LineState, dub: PublishedDub, fit: TextFit | None) -> DubSegment:
    """A line as the API shows it."""
    source, edits, published = state.source, state.edits, state.published
    placed = published.placed if published is not None else None
    values = {name: value for name, value in edits.to_row().items() if name not in {"edited_source", "take"}}
    take = state.desired.take if state.desired is not None else None
    return DubSegment(
        id=source.id,
        segment_ids=list(source.segment_ids),
        start=round(source.start_seconds, 3),
        end=round(source.end_seconds, 3),
        speaker=source.speaker,
        source=source.text,
        text=line_text(state),
        voice=edits.voice or _voice_id(dub.voice_of(source.speaker)),
        edits=DubSegmentEdits(**values, take=take.id if take is not None else None),
        published=PublishedSpeech(
            text=placed.text,
            start=round(placed.start_seconds, 3),
            duration=round(placed.seconds, 3),
            tempo=round(placed.tempo, 3),
        )
        if placed is not None
        else None,
        fit=described_fit(fit) if fit is not None else None,
        stale=list(state.reasons),
        review=state.desired is not None and state.desired.needs_review,
    )


def described_fit(fit: TextFit) -> DubLineFit:
    return DubLineFit(available_seconds=fit.available_seconds, seconds_per_character=fit.seconds_per_character)


def line_text(state: LineState) -> str | None:
    """What a line says; None while it has yet to be translated."""
    if state.edits.text is not None:
        return state.edits.text
    published, desired = state.published, state.desired
    if (
        desired is not None
        and desired.caption is not None
        and (published is None or has_other_caption(desired, published))
    ):
        return desired.caption
    if published is None or published.translated != state.source.text_fingerprint or not published.translation:
        return None
    if published.placed is not None and published.placed.text in published.translation:
        return published.placed.text  # the wording that fits
    return published.translation[0]


def _voice_id(voice: AssignedVoice | None) -> str | None:
    if voice is None:
        return None
    return stock_voice_id(voice.engine, voice.voice) if voice.voice is not None else CLONE
