"""Plans are data; a file that does not say everything is refused before anything is served."""

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
    ("name", "speech", "hosting", "usage_billing", "download"),
    [
        ("free", False, False, False, "sample"),
        ("creator", True, False, False, "full"),
        ("pro", True, True, False, "full"),
        ("business", True, True, True, "full"),
    ],
)
def test_a_bundled_plan_allows_what_the_contract_says(
    name: str, *, speech: bool, hosting: bool, usage_billing: bool, download: str
) -> None:
    assert load_plans()[name] == Plan(
        name=PlanName(name),
        requests_per_minute=600,
        requests_at_once=32,
        unfinished_jobs=50,
        speech=speech,
        hosting=hosting,
        usage_billing=usage_billing,
        download=download,
    )


def test_an_installation_replaces_the_file(write: Write) -> None:
    plans = load_plans(write(BUNDLED.replace("requests_per_minute = 600", "requests_per_minute = 7", 1)))
    assert (plans["free"].requests_per_minute, plans["pro"].requests_per_minute) == (7, 600)


def table(name: str) -> str:
    """What stands below a plan's heading."""
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
            "requests_at_once",
            "unfinished_jobs",
            "speech",
            "hosting",
            "usage_billing",
            "download",
        )
    },
}
# Each of these would let the API start and then fail at the first request of that plan.
BAD_VALUES = {
    "no requests a minute": ("requests_per_minute = 600", "requests_per_minute = 0"),
    "less than none": ("requests_per_minute = 600", "requests_per_minute = -1"),
    "a number in quotes": ("requests_per_minute = 600", 'requests_per_minute = "600"'),
    "half a request": ("requests_at_once = 32", "requests_at_once = 0.5"),
    "nothing at once": ("requests_at_once = 32", "requests_at_once = 0"),
    "fewer jobs than none": ("unfinished_jobs = 50", "unfinished_jobs = -1"),
    "speech as a word": ("speech = false", 'speech = "false"'),
    "an unknown tier": ('download = "sample"', 'download = "some"'),
}


@pytest.mark.parametrize("text", BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_misses_something_or_has_too_much_is_refused(write: Write, text: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        load_plans(write(text))


@pytest.mark.parametrize(("good", "bad"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_a_file_with_an_impossible_value_is_refused(write: Write, good: str, bad: str) -> None:
    assert good in BUNDLED
    with pytest.raises((ValueError, TypeError)):
        load_plans(write(BUNDLED.replace(good, bad, 1)))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_plans(tmp_path / "plans.toml")
