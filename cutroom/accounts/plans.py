"""Plans as data: what each allows, and its limits."""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

DOWNLOAD_TIERS = ("full", "sample")
BUNDLED_PLANS = Path(__file__).with_name("plans.toml")


class PlanName(StrEnum):
    """The plans there are."""

    FREE = "free"
    CREATOR = "creator"
    PRO = "pro"
    BUSINESS = "business"


@dataclass(frozen=True, slots=True)
class Plan:
    """What one plan allows; the limits are per key."""

    name: PlanName
    requests_per_minute: int
    requests_at_once: int
    unfinished_jobs: int
    speech: bool
    hosting: bool
    usage_billing: bool
    download: str

    def __post_init__(self) -> None:
        for limit in (self.requests_per_minute, self.requests_at_once, self.unfinished_jobs):
            if type(limit) is not int or limit < 1:
                raise ValueError(f"plan {self.name}: a limit is a whole number from 1 up")
        if not all(isinstance(flag, bool) for flag in (self.speech, self.hosting, self.usage_billing)):
            raise ValueError(f"plan {self.name}: speech, hosting and usage_billing are true or false")
        if self.download not in DOWNLOAD_TIERS:
            raise ValueError(f"plan {self.name}: download is one of {', '.join(DOWNLOAD_TIERS)}")


Plans = dict[str, Plan]


def load_plans(path: Path | None = None) -> Plans:
    """Read a plans file; one that misses a plan or a field, or has one too many, is refused at start."""
    tables = tomllib.loads((path or BUNDLED_PLANS).read_text())
    if set(tables) != set(PlanName):
        raise ValueError(f"a plans file needs exactly the plans {', '.join(PlanName)}")
    return {name: Plan(name=PlanName(name), **tables[name]) for name in PlanName}
