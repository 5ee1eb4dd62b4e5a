"""What a caller lets a request cost."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpendingLimit:
    """The most that all jobs of one request may be charged together."""

    id: str  # of the request, which its jobs share
    millicredits: int
