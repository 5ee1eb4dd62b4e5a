"""Loads plans and their limits from a file."""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

DOWNLOAD_TIERS = ("full", "sample")
BUNDLED_PLANS = Path(__file__).with_name("plans.toml")


class PlanName(StrEnum):
    """Plan names."""

    FREE = "free"
    CREATOR = "creator"
    PRO = "pro"
    BUSINESS = "business"


@dataclass(frozen=True, slots=True)
class Quotas:
    """What a library may use, whatever the number of its keys."""

    storage_bytes: int
    media_minutes: int  # imported in a calendar month
    unfinished_jobs: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The features of a plan, its limits per API key, and its quotas per library."""

    name: PlanName
    requests_per_minute: int
    concurrent_requests: int
    unfinished_jobs: int
    library_requests_per_minute: int
    library_concurrent_requests: int
    library_free_work_per_day: int  # requests that start work without a price
    library_failed_jobs_per_day: int
    library_storage_bytes: int
    library_media_minutes: int
    library_unfinished_jobs: int
    speech: bool
    hosting: bool
    usage_billing: bool
    download: str
    library_waits: int = 200  # long polls and event streams at once; plans files of 0.1.0 do not have it

    def __post_init__(self) -> None:
        for limit in (
            self.requests_per_minute,
            self.concurrent_requests,
            self.unfinished_jobs,
            self.library_requests_per_minute,
            self.library_concurrent_requests,
            self.library_free_work_per_day,
            self.library_failed_jobs_per_day,
            self.library_storage_bytes,
            self.library_media_minutes,
            self.library_unfinished_jobs,
            self.library_waits,
        ):
            if type(limit) is not int or limit < 1:
                raise ValueError(f"plan {self.name}: limits must be positive integers")
        if not all(isinstance(flag, bool) for flag in (self.speech, self.hosting, self.usage_billing)):
            raise ValueError(f"plan {self.name}: speech, hosting and usage_billing must be booleans")
        if self.download not in DOWNLOAD_TIERS:
            raise ValueError(f"plan {self.name}: download must be one of {', '.join(DOWNLOAD_TIERS)}")

    @property
    def quotas(self) -> Quotas:
        """The quotas of libraries for which the operator has set no others."""
        return Quotas(self.library_storage_bytes, self.library_media_minutes, self.library_unfinished_jobs)


Plans = dict[str, Plan]


def load_plans(path: Path | None = None) -> Plans:
    """Load a plans file; raise an error if a plan or field is missing or unknown."""
    tables = tomllib.loads((path or BUNDLED_PLANS).read_text())
    if set(tables) != set(PlanName):
        raise ValueError(f"a plans file needs exactly the plans {', '.join(PlanName)}")
    return {name: Plan(name=PlanName(name), **tables[name]) for name in PlanName}
