"""What the outputs of a request show, with all that is installed to judge moments by."""

from collections.abc import Sequence
from dataclasses import replace

from cutroom.engines.registry import Engines
from cutroom.engines.types import TimeSpan
from cutroom.products.shorts.edit import Chosen
from cutroom.products.shorts.moments.choosing import choose_clips, choose_promo, choose_shorts
from cutroom.products.shorts.moments.ranking import SHORTLIST, rank_moments
from cutroom.products.shorts.moments.talk import Moment, Talk, Wish, sentences_of
from cutroom.products.shorts.rules import Kind, ShortsOptions
from cutroom.products.shorts.transcript_view import TranscriptView


def choose(heard: TranscriptView, wanted: ShortsOptions, *, energy: Sequence[float], engines: Engines) -> list[Chosen]:
    """The outputs, the best first. It blocks: for a thread."""
    film = Talk(sentences_of(heard.segments), heard.words, heard.duration_seconds, heard.language, energy=energy)
    wish = Wish(wanted.prompt) if wanted.prompt else None
    embedder = engines.embedder()
    if embedder is not None and film.sentences:
        film = replace(film, vectors=embedder.embed([each.text for each in film.sentences]))
        if wish is not None:
            wish = replace(wish, vector=embedder.embed([wish.text])[0])
    if wanted.kind is Kind.PROMO:
        pieces = choose_promo(film, wish=wish)
        return [_chosen(pieces)] if pieces else []
    if wanted.kind is Kind.CLIPS:
        return [_chosen([moment]) for moment in choose_clips(film, count=wanted.count, wish=wish)]
    ranker = engines.ranker()
    found = choose_shorts(
        film,
        count=wanted.count * (SHORTLIST if ranker is not None else 1),
        min_seconds=wanted.min_seconds,
        max_seconds=wanted.max_seconds,
        wish=wish,
    )
    ranked = rank_moments(film, found, ranker=ranker, prompt=wanted.prompt)
    return [_chosen([moment]) for moment in ranked[: wanted.count]]


def _chosen(moments: Sequence[Moment]) -> Chosen:
    """The first moment speaks for all: it is the hook."""
    first = moments[0]
    spans = tuple(TimeSpan(moment.start_seconds, moment.end_seconds) for moment in moments)
    return Chosen(first.title, first.description, first.reason, spans)
