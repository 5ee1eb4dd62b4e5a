"""Terms of the glossary in what is written about a video in its own language: titles, descriptions and headlines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.glossary.broken_terms import MAX_BROKEN_TERMS
from cutroom.glossary.service import load_glossary
from cutroom.platform.db import Connection
from cutroom.products.transcripts.service import StoredTranscript
from cutroom.text.glossary.kept_terms import KeptTerms


@dataclass(frozen=True, slots=True)
class VideoTerms:
    """The terms to keep that are said in a video, and the version of the glossary that they come from."""

    terms: KeptTerms
    language: str
    version: str

    def report(self, texts: Sequence[str]) -> dict[str, Any]:
        """Fields of a job's result: the terms that these texts spell differently."""
        found = [
            {"language": self.language, "candidate": at, "term": broken.term, "expected": broken.expected}
            for at, text in enumerate(texts)
            for broken in self.terms.broken(text)
        ]
        return {
            "brokenTerms": found[:MAX_BROKEN_TERMS],
            "brokenTermCount": len(found),
            "glossaryVersion": self.version,
        }


async def load_kept_terms(
    connection: Connection, library_id: str, video_id: str, transcript: StoredTranscript
) -> VideoTerms:
    language = transcript.language
    glossary = await load_glossary(connection, library_id, video_id, source=language, target=language)
    texts = [each["text"] for each in transcript.segments if not each.get("deleted")]
    return VideoTerms(KeptTerms.of(glossary.rules, texts), language, glossary.version)
