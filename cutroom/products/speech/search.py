"""A search over voices, page by page."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.errors import invalid_field
from cutroom.products.speech.schemas import FoundVoices, Voice


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for; nothing means everything."""

    words: str | None = None
    category: str | None = None

    def finds(self, voice: Voice) -> bool:
        if self.category is not None and voice.category != self.category:
            return False
        told = " ".join([voice.name, voice.description or "", *voice.labels.values()]).casefold()
        return all(word in told for word in (self.words or "").casefold().split())


def page_of(voices: Sequence[Voice], search: Search, *, size: int, token: str | None) -> FoundVoices:
    """One page; the token is the id of the last voice before it, and means nothing in another library."""
    found = [voice for voice in voices if search.finds(voice)]
    start = 0
    if token is not None:
        places = {voice.voice_id: at for at, voice in enumerate(found)}
        if token not in places:
            raise invalid_field("next_page_token", "This page token was not issued for this list.")
        start = places[token] + 1
    page = found[start : start + size]
    has_more = start + size < len(found)
    return FoundVoices(
        voices=page,
        has_more=has_more,
        total_count=len(found),
        next_page_token=page[-1].voice_id if has_more else None,
    )
