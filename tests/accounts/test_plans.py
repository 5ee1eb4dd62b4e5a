"""Loading and validation of plans files."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cutroom.accounts.plans import BUNDLED_PLANS, Plan, PlanName, load_plans

BUNDLED = BUNDLED_PLANS.read_text()
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> Path:
        path = tmp_path / "plans.toml"
        path.write_text(text)
        return path

    return written


# From the contract: speech needs creator or above; hosting pro or business; business may have usage billing.
@pytest.mark.parametrize(
    ("name", "speech", "hosting", "usage_billing", "download", "quotas"),
    [
        ("free", False, False, False, "sample", (100, 3_000, 200, 500, 200)),
        ("creator", True, False, False, "full", (1_024, 20_000, 400, 2_000, 500)),
        ("pro", True, True, False, "full", (5 * 1_024, 100_000, 1_000, 5_000, 1_000)),
        ("business", True, True, True, "full", (20 * 1_024, 400_000, 2_000, 10_000, 2_000)),
    ],
)
def test_bundled_plans(
    name: str,
    *,
    speech: bool,
    hosting: bool,
    usage_billing: bool,
    download: str,
    quotas: tuple[int, int, int, int, int],
) -> None:
    storage_gib, minutes, jobs, free_work, failed_jobs = quotas
    assert load_plans()[name] == Plan(
        name=PlanName(name),
        requests_per_minute=600,
        concurrent_requests=32,
        unfinished_jobs=50,
        library_requests_per_minute=3_000,
        library_concurrent_requests=96,
        library_free_work_per_day=free_work,
        library_failed_jobs_per_day=failed_jobs,
        library_storage_bytes=storage_gib * 1024**3,
        library_media_minutes=minutes,
        library_unfinished_jobs=jobs,
        speech=speech,
        hosting=hosting,
        usage_billing=usage_billing,
        download=download,
        library_waits={"free": 100, "creator": 200, "pro": 500, "business": 1_000}[name],
    )


def test_custom_plans_file_is_used(write: Write) -> None:
    plans = load_plans(write(BUNDLED.replace("requests_per_minute = 600", "requests_per_minute = 7", 1)))
    assert (plans["free"].requests_per_minute, plans["pro"].requests_per_minute) == (7, 600)


def table(name: str) -> str:
    """Return the body of a plan's table."""
    return BUNDLED.partition(f"[{name}]")[2].partition("[")[0]


def without_table(name: str) -> str:
    return BUNDLED.replace(f"[{name}]{table(name)}", "")


BAD_FILES = {
    "empty": "",
    "not TOML": "[free",
    **{f"without the plan {name}": without_table(name) for name in PlanName},
    "a plan too many": BUNDLED + "[gold]" + table("business"),
    "a plan in capitals": BUNDLED.replace("[free]", "[Free]"),
    "a plan that is not a table": "free = 1\n" + without_table("free"),
    "a field too many": BUNDLED.replace("unfinished_jobs = 50", "unfinished_jobs = 50\nspeed = 2", 1),
    **{
        f"without {field}": re.sub(rf"^{field} = .*\n", "", BUNDLED, count=1, flags=re.MULTILINE)
        for field in (
            "requests_per_minute",
            "concurrent_requests",
            "unfinished_jobs",
            "library_requests_per_minute",
            "library_concurrent_requests",
            "library_free_work_per_day",
            "library_failed_jobs_per_day",
            "library_storage_bytes",
            "library_media_minutes",
            "library_unfinished_jobs",
            "speech",
            "hosting",
            "usage_billing",
            "download",
        )
    },
}
# Values that would otherwise fail at the plan's first request.
BAD_VALUES = {
    "no requests per minute": ("requests_per_minute = 600", "requests_per_minute = 0"),
    "negative": ("requests_per_minute = 600", "requests_per_minute = -1"),
    "a quoted number": ("requests_per_minute = 600", 'requests_per_minute = "600"'),
    "a fraction": ("concurrent_requests = 32", "concurrent_requests = 0.5"),
    "no concurrent requests": ("concurrent_requests = 32", "concurrent_requests = 0"),
    "negative jobs": ("unfinished_jobs = 50", "unfinished_jobs = -1"),
    "no minutes": ("library_media_minutes = 3_000", "library_media_minutes = 0"),
    "speech as a string": ("speech = false", 'speech = "false"'),
    "an unknown tier": ('download = "sample"', 'download = "some"'),
}


@pytest.mark.parametrize("text", BAD_FILES.values(), ids=BAD_FILES)
def test_missing_or_unknown_entries_are_rejected(write: Write, text: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        load_plans(write(text))


@pytest.mark.parametrize(("good", "bad"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_invalid_value_is_rejected(write: Write, good: str, bad: str) -> None:
    assert good in BUNDLED
    with pytest.raises((ValueError, TypeError)):
        load_plans(write(BUNDLED.replace(good, bad, 1)))


def test_missing_plans_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_plans(tmp_path / "plans.toml")
