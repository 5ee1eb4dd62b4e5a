"""What products tell callers about themselves: their limits and models, and why they may be unavailable."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cutroom.accounts.principals import Principal
from cutroom.platform.settings import Settings


@dataclass(frozen=True, slots=True)
class CallerContext:
    """What decides whether a caller can use a product now."""

    principal: Principal
    settings: Settings
    caption_languages: Sequence[str]
    dub_languages: Sequence[str]
    spoken_languages: Sequence[str]


Refusal = Callable[[CallerContext], str | None]  # the reason why a caller cannot use a product, if there is one


def never_refused(_context: CallerContext) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class ProductInfo:
    """A product as `GET /v1/capabilities` shows it."""

    name: str
    limits: Mapping[str, float]
    models: tuple[str, ...]
    refusal: Refusal
