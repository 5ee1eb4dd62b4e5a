"""File tokens are bound to one object and file name, expire and have one spelling."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.library.playback import PlaybackLinks
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.disposition import content_disposition
from cutroom.platform.storage.links import LIFETIME, FileLinks, is_object_path, saved_name
from cutroom.platform.telemetry import redact
from tests.support import disposition

NOW = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)
LINKS = FileLinks(SecretBox("s" * 32), "https://cutroom.example.com/")
PATH = "libraries/l1/videos/v1/shorts/r1/output-0.mp4"
NAME = "Été & more.mp4"
SEGMENTS = st.lists(st.from_regex(r"[a-z0-9.]{1,3}", fullmatch=True), min_size=1, max_size=3)


def token_of(url: str) -> str:
    return url.split("/")[4]


@pytest.mark.parametrize("file_name", [None, NAME])
def test_url_is_valid_for_an_hour(file_name: str | None) -> None:
    url = LINKS.url(PATH, now=NOW, file_name=file_name)
    token = token_of(url)
    assert url.startswith(f"https://cutroom.example.com/files/{token}/{PATH}")
    assert parse_qs(urlsplit(url).query) == ({} if file_name is None else {"name": [file_name]})
    last = NOW + LIFETIME - timedelta(seconds=1)
    assert LINKS.is_valid(token, PATH, file_name=file_name, now=last)
    assert not LINKS.is_valid(token, PATH, file_name=file_name, now=NOW + LIFETIME)
    assert timedelta(hours=1) == LIFETIME


@pytest.mark.parametrize(
    ("path", "file_name"),
    [
        (PATH.replace("l1", "l2"), NAME),
        (PATH.replace("v1", "v2"), NAME),
        (PATH.replace("output-0", "output-1"), NAME),
        (f"{PATH}/more", NAME),
        (PATH.removeprefix("libraries/"), NAME),
        (PATH, "other.mp4"),
        (PATH, ""),
        (PATH, None),
        (f"{PATH}?name=%C3%89t%C3%A9%20%26%20more.mp4", None),
    ],
)
def test_token_is_bound_to_object_and_name(path: str, file_name: str | None) -> None:
    token = token_of(LINKS.url(PATH, now=NOW, file_name=NAME))
    assert LINKS.is_valid(token, PATH, file_name=NAME, now=NOW)
    assert not LINKS.is_valid(token, path, file_name=file_name, now=NOW)


@given(SEGMENTS, SEGMENTS, st.none() | st.text(max_size=5), st.none() | st.text(max_size=5))
def test_no_token_is_valid_for_two_targets(
    first: list[str], second: list[str], first_name: str | None, second_name: str | None
) -> None:
    path, other = (f"libraries/l/{'/'.join(each)}" for each in (first, second))
    token = token_of(LINKS.url(path, now=NOW, file_name=first_name))
    is_same = (path, first_name) == (other, second_name)
    assert LINKS.is_valid(token, other, file_name=second_name, now=NOW) == (is_same and is_object_path(path))


@pytest.mark.parametrize(
    "path",
    [
        "libraries",
        "libraries/l1",
        "doctor/l1/a.png",
        "libraries/l1/../l2/a.png",
        "libraries/../doctor/a.png",
        "libraries/l1/..",
        "libraries/l1//a.png",
        "/libraries/l1/a.png",
        "libraries/l1/a.png/",
        "libraries/l1/%2e%2e/a.png",
        "libraries/l1/a b.png",
        "libraries/l1/a\n.png",
        "libraries/l1/a\\b.png",
        "libraries/l1/é.png",
        "libraries/l1/.hidden",
    ],
)
def test_hostile_path_is_rejected_even_if_signed(path: str) -> None:
    token = LINKS.token(path, int((NOW + LIFETIME).timestamp()), file_name=None)
    assert not LINKS.is_valid(token, path, file_name=None, now=NOW)


@pytest.mark.parametrize("token", ["", "fl_", "fl_zz", "x", "fl_ffffffff" + "0" * 32, "fl_" + "f" * 400])
def test_malformed_token_is_rejected(token: str) -> None:
    assert not LINKS.is_valid(token, PATH, file_name=None, now=NOW)


def test_modified_token_is_rejected() -> None:
    token = token_of(LINKS.url(PATH, now=NOW))
    later = f"fl_{int(token[3:11], 16) + 3600:08x}{token[11:]}"
    upper = f"fl_{token[3:].upper()}"
    last = f"{token[:-1]}{'0' if token[-1] != '0' else '1'}"
    assert LINKS.is_valid(token, PATH, file_name=None, now=NOW)
    for changed in (later, upper, last, token.removeprefix("fl_"), token[:-1], token[:-2], f"{token} "):
        assert not LINKS.is_valid(changed, PATH, file_name=None, now=NOW), changed


def test_tokens_of_other_secrets_and_purposes_are_rejected() -> None:
    foreign = token_of(FileLinks(SecretBox("t" * 32), "https://cutroom.example.com").url(PATH, now=NOW))
    playback = token_of(PlaybackLinks(SecretBox("s" * 32), "https://cutroom.example.com").url("l1", "v1", "x", now=NOW))
    for token in (foreign, playback, playback.replace("pb_", "fl_")):
        assert not LINKS.is_valid(token, PATH, file_name=None, now=NOW)


def test_logs_redact_token_and_name() -> None:
    url = LINKS.url(PATH, now=NOW, file_name=NAME)
    redacted = redact(f"GET {url}")
    assert token_of(url)[3:] not in redacted
    assert "more" not in redacted
    assert "fl_…" in redact(urlsplit(url).path)


@given(st.text(st.characters(categories=("L", "N")), min_size=1))
def test_the_name_in_a_url_is_the_one_that_clients_save(name: str) -> None:
    url = LINKS.url(PATH, now=NOW, file_name=f"{name}.mp4")
    assert saved_name(url) == disposition.saved_name(content_disposition(f"{name}.mp4"))
