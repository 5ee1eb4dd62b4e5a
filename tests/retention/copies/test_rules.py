"""Which jobs are copied, under which keys, and what errors of a store mean."""

import re

import pytest

from cutroom.jobs.ids import AutomationType, DubProduct, InternalJobType, JobKey, JobType
from cutroom.platform.ids import new_id
from cutroom.retention.copies.rules import (
    PREFIX_PATTERN,
    copied_job_id,
    copy_key,
    endpoint_error,
    store_fault,
)

VIDEO = new_id()
DUB = JobKey(JobType.DUB, VIDEO, language="pt", product=DubProduct.PLUS)
REDUB_PLAN = {"dubbed_video_id": VIDEO, "language": "pt", "product": "plus"}
THUMBNAIL = JobKey(JobType.PACKAGING, VIDEO, automation=AutomationType.THUMBNAIL)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (DUB, DUB.id),
        (JobKey(InternalJobType.REDUB, new_id()), DUB.id),
        (JobKey(JobType.TRANSCRIPT, VIDEO), f"transcript_{VIDEO}"),
        (JobKey(JobType.CAPTIONS, VIDEO, language="pt", revision=3), f"captions_{VIDEO}_pt"),
        (THUMBNAIL, THUMBNAIL.id),
        (JobKey(JobType.PACKAGING, VIDEO, automation=AutomationType.TITLE), None),
        (JobKey(JobType.IMPORT, VIDEO), None),
        (JobKey(InternalJobType.SPEECH, new_id()), None),
    ],
)
def test_outputs_are_copied_after_their_jobs(key: JobKey, expected: str | None) -> None:
    assert copied_job_id(key, REDUB_PLAN) == expected


@pytest.mark.parametrize(("prefix", "start"), [("", ""), ("a/b", "a/b/")])
def test_key_names_video_product_and_job(prefix: str, start: str) -> None:
    key = copy_key(prefix, video_id="v", product="dubs", job_id="dub_v_pt_plus", name="dubs/pt-plus.m4a")
    assert key == f"{start}v/dubs/dub_v_pt_plus/pt-plus.m4a"


@pytest.mark.parametrize(
    ("prefix", "valid"),
    [("", True), ("a", True), ("a/b-c/d.e=1", True)]
    + [(text, False) for text in ("/a", "a/", "a//b", "..", "..a", "a/../b", "a/.", "a b", "é", "a\n")],
)
def test_prefix_cannot_leave_its_place(prefix: str, *, valid: bool) -> None:
    assert (re.search(PREFIX_PATTERN.replace("$", r"\Z"), prefix) is not None) is valid


@pytest.mark.parametrize(
    ("endpoint", "valid"),
    [
        ("https://s3.eu-central-1.amazonaws.com", True),
        ("https://minio.example.com:9000/", True),
        ("http://s3.amazonaws.com", False),
        ("https://s3.amazonaws.com/bucket", False),
        ("https://s3.amazonaws.com/?a=b", False),
        ("https://user:word@s3.amazonaws.com", False),
        ("https://127.0.0.1", False),
        ("https://169.254.169.254", False),
        ("https://store.internal", False),
        ("https://[::1]", False),
    ],
)
def test_endpoint_is_a_public_origin(endpoint: str, *, valid: bool) -> None:
    assert (endpoint_error(endpoint) is None) is valid


@pytest.mark.parametrize(
    ("status", "code", "transient", "word"),
    [
        (403, "SignatureDoesNotMatch", False, "secret access key"),
        (403, "InvalidAccessKeyId", False, "does not know"),
        (403, "AccessDenied", False, "may not write"),
        (404, "NoSuchBucket", False, "does not exist"),
        (301, "PermanentRedirect", False, "another region"),
        (400, "AuthorizationHeaderMalformed", False, "another region"),
        (400, "<b>markup</b>", False, "status 400"),
        (404, "NoSuchUpload", True, "at the moment"),
        (503, "SlowDown", True, "at the moment"),
        (500, "unknown", True, "status 500"),
    ],
)
def test_errors_of_the_store_are_explained(status: int, code: str, word: str, *, transient: bool) -> None:
    fault = store_fault(status, code)
    assert fault.is_transient is transient
    assert word in fault.message
