"""Selects the outputs of a request, using the embedder and ranker if available."""

from collections.abc import Sequence
from dataclasses import replace

from cutroom.engines.registry import Engines
from cutroom.engines.types import TimeSpan
from cutroom.products.shorts.edit import SelectedOutput
from cutroom.products.shorts.moments.ranking import SHORTLIST_FACTOR, rank_moments, title_moments
from cutroom.products.shorts.moments.selection import choose_clips, choose_promo, choose_shorts
from cutroom.products.shorts.moments.talk import Moment, SelectionPrompt, Talk, to_sentences
from cutroom.products.shorts.rules import ShortsKind, ShortsOptions
from cutroom.products.shorts.transcript_view import TranscriptView


def select_outputs(
    transcript: TranscriptView, options: ShortsOptions, *, energy: Sequence[float], engines: Engines
) -> list[SelectedOutput]:
    """The selected outputs, the best first. Blocking: run it in a thread."""
    talk = Talk(
        to_sentences(transcript.segments),
        transcript.words,
        transcript.duration_seconds,
        transcript.language,
        energy=energy,
    )
    selection_prompt = SelectionPrompt(options.prompt) if options.prompt else None
    embedder = engines.text_embedder()
    if embedder is not None and talk.sentences:
        talk = replace(talk, vectors=embedder.embed([each.text for each in talk.sentences]))
        if selection_prompt is not None:
            selection_prompt = replace(selection_prompt, vector=embedder.embed([selection_prompt.text])[0])
    if options.kind is ShortsKind.PROMO:
        clips = choose_promo(talk, prompt=selection_prompt)
        hook = title_moments(talk, clips[:1], writer=engines.writer())
        return [_to_output([*hook, *clips[1:]])] if clips else []
    if options.kind is ShortsKind.CLIPS:
        moments = choose_clips(talk, count=options.count, prompt=selection_prompt)
        return [_to_output([moment]) for moment in title_moments(talk, moments, writer=engines.writer())]
    ranker = engines.ranker()
    result = choose_shorts(
        talk,
        count=options.count * (SHORTLIST_FACTOR if ranker is not None else 1),
        min_seconds=options.min_seconds,
        max_seconds=options.max_seconds,
        prompt=selection_prompt,
    )
    ranked = rank_moments(talk, result, ranker=ranker, prompt=options.prompt)
    titled = title_moments(talk, ranked[: options.count], writer=engines.writer())
    return [_to_output([moment]) for moment in titled]


def _to_output(moments: Sequence[Moment]) -> SelectedOutput:
    """The first moment, the hook, provides title and description."""
    first = moments[0]
    spans = tuple(TimeSpan(moment.start_seconds, moment.end_seconds) for moment in moments)
    return SelectedOutput(first.title, first.description, first.reason, spans)
