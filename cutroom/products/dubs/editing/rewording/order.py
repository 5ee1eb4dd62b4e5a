"""Shorter wordings that a worker is asked to write: what is ordered, and what was made."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta

from cutroom.products.speech.rules import fingerprint

ANSWER_TIME = timedelta(seconds=30)  # after which a caller need not wait any longer
MADE = "wordings.json"


@dataclass(frozen=True, slots=True)
class WordingsOrder:
    """A line that is too long."""

    line_id: str
    text: str
    language: str
    max_characters: int

    def to_json(self) -> bytes:
        return json.dumps({"wordings_of": asdict(self)}, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "WordingsOrder | None":
        """The order; None if takes are ordered."""
        row = json.loads(data)
        return cls(**row["wordings_of"]) if "wordings_of" in row else None

    def id(self, dub: Sequence[str], *, model: str) -> str:
        """The same for the same request, so that a repeated one returns what was made."""
        return "0" + fingerprint({"dub": list(dub), "wordings": asdict(self), "model": model})[:25]


def write_made(wordings: Sequence[str]) -> bytes:
    return json.dumps({"wordings": list(wordings)}, ensure_ascii=False).encode()


def read_made(data: bytes) -> list[str]:
    found: list[str] = json.loads(data)["wordings"]
    return found
