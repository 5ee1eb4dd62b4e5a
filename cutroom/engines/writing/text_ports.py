"""Ports of text embedding and ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from cutroom.engines.types import Vector


class TextEmbedder(Protocol):
    """Says what texts mean, so that they can be compared."""

    name: str

    def embed(self, texts: Sequence[str]) -> "Vector":
        """A row of length 1 for each text; texts of like meaning have a high cosine."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text to be ranked, with an id of the caller's."""

    id: str
    text: str


class Ranker(Protocol):
    """Puts texts in order."""

    @property
    def name(self) -> str: ...

    def rank(self, candidates: Sequence[Candidate], *, prompt: str | None) -> list[str]:
        """Every id once, best first: those that best fit the prompt, or that are most worth watching without one."""
        ...
