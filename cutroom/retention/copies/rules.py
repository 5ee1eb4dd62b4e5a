"""Which jobs have files to copy, the keys of the copies, and what errors of the customer's store mean."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutroom.jobs.ids import AutomationType, DubProduct, InternalJobType, JobKey, JobType
from cutroom.platform.egress import urls

PART_BYTES = 8 * 2**20  # held in memory
MAX_URL_LENGTH = 500
CHECK_SECONDS = 25.0  # for the test of a bucket, while the caller waits
# Letters that every store accepts in keys; no segment of a prefix is empty or begins with a dot.
PREFIX_PATTERN = r"^([A-Za-z0-9_=-][A-Za-z0-9_.=-]*(/[A-Za-z0-9_=-][A-Za-z0-9_.=-]*)*)?$"
BUCKET_PATTERN = r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$"
REGION_PATTERN = r"^[a-z0-9-]{1,40}$"
ACCESS_KEY_PATTERN = r"^[A-Za-z0-9_.+=~-]{3,128}$"
UNREACHABLE = "The store could not be reached."
_CODE = re.compile(r"[A-Za-z]{1,64}")
# Beside statuses: the store's clock, or an unfinished upload that the store has dropped.
_TRANSIENT_CODES = frozenset({"RequestTimeTooSkewed", "RequestTimeout", "NoSuchUpload", "InvalidPart"})
_OTHER_REGION = "The bucket is in another region, or at another endpoint."
_NOT_PERMITTED = "The access key may not write to this bucket."
_MESSAGES = {
    "AuthorizationHeaderMalformed": _OTHER_REGION,
    "InvalidAccessKeyId": "The store does not know this access key.",
    "SignatureDoesNotMatch": "The secret access key does not belong to this access key.",
}
_STATUS_MESSAGES = {401: _NOT_PERMITTED, 403: _NOT_PERMITTED, 404: "The bucket does not exist."}
_COPIED_JOBS = frozenset({JobType.TRANSCRIPT, JobType.CAPTIONS, JobType.DUB, JobType.SHORTS, JobType.THUMBNAIL})


class CopyStatus(StrEnum):
    """States of a copy."""

    PENDING = "pending"
    COPIED = "copied"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CopyRef:
    """Identifies one run of a copy; ids only, because workflow histories contain it."""

    library_id: str
    copy_id: str
    run: int

    @property
    def workflow_id(self) -> str:
        return f"copy_{self.copy_id}.{self.run}"


@dataclass(frozen=True, slots=True)
class StoreFault:
    """What an error of the customer's store means, and whether another attempt can succeed."""

    code: str
    message: str
    is_transient: bool = False


def copied_job_id(key: JobKey, plan: Mapping[str, Any]) -> str | None:
    """The job whose files are copied when a job is ready: itself, or the one whose output it has changed."""
    if key.type is InternalJobType.REDUB:
        product = DubProduct(plan["product"])
        return JobKey(JobType.DUB, plan["dubbed_video_id"], language=plan["language"], product=product).id
    if key.type in _COPIED_JOBS or key.automation is AutomationType.THUMBNAIL:
        return key.output_id
    return None


def copy_key(prefix: str, *, video_id: str, product: str, job_id: str, name: str) -> str:
    """The key of a copy: the file's name in an export of the library, below its video, product and job."""
    key = f"{video_id}/{product}/{job_id}/{name.rpartition('/')[2]}"
    return f"{prefix}/{key}" if prefix else key


def endpoint_error(endpoint: str) -> str | None:
    """Why an endpoint is invalid, if it is; the resolved address is checked with each connection."""
    if len(endpoint) > MAX_URL_LENGTH or not endpoint.isascii():
        return f"A URL has at most {MAX_URL_LENGTH} characters, all of them printable ASCII."
    if problem := urls.url_error(endpoint):
        return problem
    return None if urls.parse_url(endpoint).path == "/" and "#" not in endpoint else "An endpoint has no path."


def store_fault(status: int, code: str) -> StoreFault:
    """Explains an error response."""
    known = code if _CODE.fullmatch(code) and code != "unknown" else f"status {status}"
    if status >= 500 or status in {408, 429} or code in _TRANSIENT_CODES:
        return StoreFault(known, f"The store is not available at the moment ({known}).", is_transient=True)
    if code in _MESSAGES:
        return StoreFault(known, _MESSAGES[code])
    if 300 <= status < 400:
        return StoreFault(known, _OTHER_REGION)
    return StoreFault(known, _STATUS_MESSAGES.get(status, f"The store refused the file ({known})."))
