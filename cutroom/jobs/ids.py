"""Builds and parses deterministic job ids."""

from dataclasses import dataclass
from enum import StrEnum

from cutroom.platform.ids import is_id
from cutroom.text.language_tags import canonical_language, is_language


class JobType(StrEnum):
    """Job types exposed by the API."""

    IMPORT = "import"
    TRANSCRIPT = "transcript"
    DUB = "dub"
    CAPTIONS = "captions"
    SHORTS = "shorts"
    THUMBNAIL = "thumbnail"
    PACKAGING = "packaging"
    DOWNLOAD = "download"


class InternalJobType(StrEnum):
    """Internal jobs: same lifecycle, not exposed by the API; their progress appears on the parent resource."""

    VOICE = "voice"
    SPEECH = "speech"
    REDUB = "redub"
    HOSTING = "hosting"
    CHARACTER = "character"


JobKind = JobType | InternalJobType


def parse_job_kind(text: str) -> JobKind:
    return JobType(text) if text in set(JobType) else InternalJobType(text)


class DubProduct(StrEnum):
    """Dub quality tiers."""

    PLUS = "plus"
    PREMIUM = "premium"


class AutomationType(StrEnum):
    """Packaging job outputs."""

    TITLE = "generateTitle"
    DESCRIPTION = "generateDescription"
    THUMBNAIL = "zeroPromptThumbnail"


@dataclass(frozen=True, slots=True)
class JobKey:
    """The components of a job id."""

    type: JobKind
    subject: str  # a video id, or a request id for requests that have their own
    language: str | None = None
    product: DubProduct | None = None
    automation: AutomationType | None = None

    @property
    def id(self) -> str:
        components = (self.type, self.subject, self.language, self.product, self.automation)
        return "_".join(component for component in components if component is not None)


def parse_job_id(text: str) -> JobKey | None:
    """Parse a job id; return None if it is not one. Language tags compare without case."""
    kind, _, rest = text.partition("_")
    subject, *details = rest.split("_")
    if kind not in {*JobType, *InternalJobType} or not is_id(subject):
        return None
    return _with_details(parse_job_kind(kind), subject, details)


def _with_details(kind: JobKind, subject: str, details: list[str]) -> JobKey | None:
    match kind, details:
        case JobType.DUB, [language, product] if is_language(language) and product in set(DubProduct):
            return JobKey(kind, subject, language=canonical_language(language), product=DubProduct(product))
        case JobType.CAPTIONS, [language] if is_language(language):
            return JobKey(kind, subject, language=canonical_language(language))
        case JobType.PACKAGING, [automation] if automation in set(AutomationType):
            return JobKey(kind, subject, automation=AutomationType(automation))
        case JobType.DUB | JobType.CAPTIONS | JobType.PACKAGING, _:
            return None
        case _, []:
            return JobKey(kind, subject)
        case _:
            return None


def workflow_id(job_id: str, attempt: int) -> str:
    """The id of an attempt's workflow, which is also the holder of its escrow."""
    return job_id if attempt == 1 else f"{job_id}.{attempt}"
