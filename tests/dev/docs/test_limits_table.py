"""The tables of limits in the documentation."""

import pytest

from dev.docs.limits_table import UnknownLimitError, table


@pytest.mark.parametrize(
    ("names", "limit"),
    [
        ("`MAX_UPLOAD_BYTES`, `products/uploads/rules.py`", "500 GB"),
        ("`PART_BYTES`, `MAX_PARTS`, `products/uploads/rules.py`", "8 MiB, 10,000"),
        ("`SESSION_LIFETIME`, `products/uploads/rules.py`", "7 days"),
        ("`MAX_DURATION_SECONDS`, `media/probe.py`", "24 hours"),
        ("`READ_SECONDS`, `platform/egress/client.py`", "15 s"),
        ("`SandboxLimits.cpu_seconds`, `media/sandbox.py`", "4 minutes"),
        ("`CUTROOM_UPLOAD_WAIT_SECONDS`", "24 hours"),
    ],
)
def test_a_limit_is_read_from_the_code(names: str, limit: str) -> None:
    assert table(f"| what it is | {names} | an old value |").splitlines()[-1] == f"| what it is | {names} | {limit} |"


@pytest.mark.parametrize("names", ["`MAX_NOTHING`, `media/probe.py`", "`CUTROOM_NOTHING`", "`MAX_STREAMS`"])
def test_a_constant_that_does_not_exist_is_an_error(names: str) -> None:
    with pytest.raises(UnknownLimitError):
        table(f"| what it is | {names} | 5 |")
