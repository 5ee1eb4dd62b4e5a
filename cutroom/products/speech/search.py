"""Searches voices and paginates the results."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.errors import invalid_field
from cutroom.products.speech.schemas import FoundVoices, Voice


@dataclass(frozen=True, slots=True)
class VoiceSearch:
    """Search filters; without any, every voice matches."""

    words: str | None = None
    category: str | None = None

    def matches(self, voice: Voice) -> bool:
        if self.category is not None and voice.category != self.category:
            return False
        text = " ".join([voice.name, voice.description or "", *voice.labels.values()]).casefold()
        return all(word in text for word in (self.words or "").casefold().split())


def voice_page(voices: Sequence[Voice], search: VoiceSearch, *, size: int, token: str | None) -> FoundVoices:
    """One page of results; the page token is the id of the last voice of the previous page."""
    found = [voice for voice in voices if search.matches(voice)]
    start = 0
    if token is not None:
        positions = {voice.voice_id: index for index, voice in enumerate(found)}
        if token not in positions:
            raise invalid_field("next_page_token", "This page token was not issued for this list.")
        start = positions[token] + 1
    page = found[start : start + size]
    has_more = start + size < len(found)
    return FoundVoices(
        voices=page,
        has_more=has_more,
        total_count=len(found),
        next_page_token=page[-1].voice_id if has_more else None,
    )
