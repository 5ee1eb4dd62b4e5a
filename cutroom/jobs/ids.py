"""Job ids both ways: from what a job is about to its id, and back."""

from dataclasses import dataclass
from enum import StrEnum

from cutroom.platform.ids import is_id
from cutroom.web.schema import canonical_language, is_language


class JobType(StrEnum):
    """What a job makes."""

    IMPORT = "import"
    TRANSCRIPT = "transcript"
    DUB = "dub"
    CAPTIONS = "captions"
    SHORTS = "shorts"
    THUMBNAIL = "thumbnail"
    PACKAGING = "packaging"
    DOWNLOAD = "download"


class InternalJobType(StrEnum):
    """Work in the same envelope that is no job on the wire: something else shows how far it has come."""

    VOICE = "voice"
    SPEECH = "speech"
    REDUB = "redub"
    HOSTING = "hosting"
    CHARACTER = "character"


JobKind = JobType | InternalJobType


def kind_of(text: str) -> JobKind:
    return JobType(text) if text in set(JobType) else InternalJobType(text)


class DubProduct(StrEnum):
    """How a dub's voices are made."""

    PLUS = "plus"
    PREMIUM = "premium"


class AutomationType(StrEnum):
    """What a packaging job writes."""

    TITLE = "generateTitle"
    DESCRIPTION = "generateDescription"
    THUMBNAIL = "zeroPromptThumbnail"


@dataclass(frozen=True, slots=True)
class JobKey:
    """What a job id says."""

    type: JobKind
    subject: str  # the video's id or, for requests with ids of their own, the request's
    language: str | None = None
    product: DubProduct | None = None
    automation: AutomationType | None = None

    @property
    def id(self) -> str:
        pieces = (self.type, self.subject, self.language, self.product, self.automation)
        return "_".join(piece for piece in pieces if piece is not None)


def parse_job_id(text: str) -> JobKey | None:
    """What a caller's job id says, or nothing when no job can have it."""
    kind, _, rest = text.partition("_")
    subject, *details = rest.split("_")
    if kind not in {*JobType, *InternalJobType} or not is_id(subject):
        return None
    key = _with_details(kind_of(kind), subject, details)
    return key if key is not None and key.id == text else None


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
