"""Builds and parses deterministic job ids."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from cutroom.platform.ids import is_id
from cutroom.text.language_tags import canonical_language, is_language

_REVISION = re.compile(r"[1-9][0-9]{0,8}")


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
    TAKES = "takes"
    HOSTING = "hosting"
    CHARACTER = "character"
    OPTIMIZE = "optimize"


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
    revision: int | None = None  # of the captions or the transcript that the job changes

    @property
    def id(self) -> str:
        components = (self.type, self.subject, self.language, self.product, self.automation, self.revision)
        return "_".join(str(component) for component in components if component is not None)

    @property
    def output_id(self) -> str:
        """The id of the job that made the output which this job changes; its own if it makes one."""
        return replace(self, revision=None).id


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
        case JobType.CAPTIONS, [language, *rest] if is_language(language) and _is_revision(rest):
            revision = int(rest[0]) if rest else None
            return JobKey(kind, subject, language=canonical_language(language), revision=revision)
        case JobType.TRANSCRIPT, [revision] if _REVISION.fullmatch(revision):
            return JobKey(kind, subject, revision=int(revision))
        case JobType.PACKAGING, [automation] if automation in set(AutomationType):
            return JobKey(kind, subject, automation=AutomationType(automation))
        case _, [] if kind not in {JobType.DUB, JobType.CAPTIONS, JobType.PACKAGING}:
            return JobKey(kind, subject)
        case _:
            return None


def _is_revision(details: list[str]) -> bool:
    """Whether a job of captions has a revision, or nothing, after its language."""
    return not details or (len(details) == 1 and _REVISION.fullmatch(details[0]) is not None)


def workflow_id(job_id: str, attempt: int) -> str:
    """The id of an attempt's workflow, which is also the holder of its escrow."""
    return job_id if attempt == 1 else f"{job_id}.{attempt}"
