"""What products tell callers about themselves, and what they do when their jobs are canceled or retried."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

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


# `jobs.cancellation.JobHook`: takes a connection and the job, and acts in the same transaction.
JobHook = Callable[..., Awaitable[None]]


@dataclass(frozen=True, slots=True)
class JobHooks:
    """The hooks of all products, by type of job."""

    before_cancel: Mapping[str, JobHook] = field(default_factory=dict)  # runs before the job is locked
    discard: Mapping[str, JobHook] = field(default_factory=dict)  # removes what the unfinished job has published
    before_retry: Mapping[str, JobHook] = field(default_factory=dict)  # refuses a job that cannot run again
