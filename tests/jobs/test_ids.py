"""Job ids are built from their components and parsed back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.jobs.ids import AutomationType, DubProduct, JobKey, JobType, parse_job_id
from cutroom.jobs.states import TERMINAL, TRANSITIONS, JobState, can_transition

VIDEO = "01j9z3k4m5n6p7q8r9s0t1v2w3"

CASES = [
    (JobKey(JobType.IMPORT, VIDEO), f"import_{VIDEO}"),
    (JobKey(JobType.TRANSCRIPT, VIDEO), f"transcript_{VIDEO}"),
    (JobKey(JobType.DUB, VIDEO, language="pt-BR", product=DubProduct.PLUS), f"dub_{VIDEO}_pt-BR_plus"),
    (JobKey(JobType.CAPTIONS, VIDEO, language="de"), f"captions_{VIDEO}_de"),
    (JobKey(JobType.CAPTIONS, VIDEO, language="de", revision=12), f"captions_{VIDEO}_de_12"),
    (JobKey(JobType.SHORTS, VIDEO), f"shorts_{VIDEO}"),
    (JobKey(JobType.THUMBNAIL, VIDEO), f"thumbnail_{VIDEO}"),
    (JobKey(JobType.DOWNLOAD, VIDEO), f"download_{VIDEO}"),
    (JobKey(JobType.PACKAGING, VIDEO, automation=AutomationType.TITLE), f"packaging_{VIDEO}_generateTitle"),
]


@pytest.mark.parametrize(("key", "text"), CASES)
def test_job_id_round_trips(key: JobKey, text: str) -> None:
    assert key.id == text
    assert parse_job_id(text) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "_",
        "import",
        "import_",
        "import_x",
        f"import_{VIDEO}_x",
        f"nothing_{VIDEO}",
        f"dub_{VIDEO}",
        f"dub_{VIDEO}_de",
        f"dub_{VIDEO}_de_gold",
        f"dub_{VIDEO}_d_plus",
        f"captions_{VIDEO}_de_plus",
        f"captions_{VIDEO}_de_0",
        f"captions_{VIDEO}_de_012",
        f"captions_{VIDEO}_de_1_2",
        f"dub_{VIDEO}_de_plus_1",
        f"packaging_{VIDEO}",
        f"packaging_{VIDEO}_nothing",
        f"IMPORT_{VIDEO}",
        f"import_{VIDEO.upper()}",
        f"import_{VIDEO}\x00",
    ],
)
def test_invalid_job_id_is_rejected(text: str) -> None:
    assert parse_job_id(text) is None


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (f"dub_{VIDEO}_PT-br_plus", f"dub_{VIDEO}_pt-BR_plus"),
        (f"dub_{VIDEO}_ZH-hant_premium", f"dub_{VIDEO}_zh-Hant_premium"),
        (f"captions_{VIDEO}_DE", f"captions_{VIDEO}_de"),
    ],
)
def test_language_tags_compare_without_case(text: str, canonical: str) -> None:
    key = parse_job_id(text)
    assert key is not None
    assert key.id == canonical


@given(st.text(max_size=80))
def test_parsing_never_raises(text: str) -> None:
    key = parse_job_id(text)
    assert key is None or key.id.lower() == text.lower()


def test_only_finished_jobs_can_be_queued_again() -> None:
    assert TRANSITIONS[JobState.READY] == {JobState.QUEUED}
    assert TRANSITIONS[JobState.FAILED] == {JobState.QUEUED}
    assert {JobState.READY, JobState.FAILED} == TERMINAL
    assert can_transition(JobState.QUEUED, JobState.PROCESSING)
    assert not can_transition(JobState.QUEUED, JobState.READY)
    assert not can_transition(JobState.PROCESSING, JobState.QUEUED)
