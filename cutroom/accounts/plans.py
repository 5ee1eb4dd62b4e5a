"""Plans as data: what each allows, and its limits."""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

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


Plans = dict[str, Plan]


def load_plans(path: Path | None = None) -> Plans:
    """Read a plans file; one that misses a plan or a field, or has one too many, is refused at start."""
    tables = tomllib.loads((path or BUNDLED_PLANS).read_text())
    if set(tables) != set(PlanName):
        raise ValueError(f"a plans file needs exactly the plans {', '.join(PlanName)}")
    return {name: Plan(name=PlanName(name), **tables[name]) for name in PlanName}
