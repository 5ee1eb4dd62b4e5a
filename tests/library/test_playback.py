"""Playback tokens are bound to one video, expire and have one spelling."""

from datetime import UTC, datetime, timedelta

import pytest

from cutroom.library.playback import LIFETIME, STEP_SECONDS, PlaybackLinks, issued_at
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.telemetry import redact

NOW = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)
LINKS = PlaybackLinks(SecretBox("s" * 32), "https://cutroom.example.com/")


def token_of(url: str) -> str:
    return url.split("/")[4]


def test_url_is_valid_for_its_video_until_expiry() -> None:
    url = LINKS.url("library", "video", "master.m3u8", now=NOW)
    token = token_of(url)
    assert url == f"https://cutroom.example.com/media/{token}/library/video/master.m3u8"
    assert LINKS.is_valid(token, "library", "video", now=NOW + LIFETIME)
    assert not LINKS.is_valid(token, "library", "video", now=NOW + LIFETIME + timedelta(seconds=STEP_SECONDS))


def test_urls_are_stable_within_step() -> None:
    soon = NOW + timedelta(minutes=5)
    assert LINKS.url("l", "v", "x", now=NOW) == LINKS.url("l", "v", "x", now=soon)


def test_token_is_bound_to_video() -> None:
    token = token_of(LINKS.url("library", "video", "master.m3u8", now=NOW))
    assert not LINKS.is_valid(token, "library", "other", now=NOW)
    assert not LINKS.is_valid(token, "other", "video", now=NOW)
    assert not PlaybackLinks(SecretBox("t" * 32), "").is_valid(token, "library", "video", now=NOW)


def test_token_shows_which_revocations_were_known() -> None:
    before = token_of(LINKS.url("library", "video", "master.m3u8", now=NOW))
    after = token_of(LINKS.url("library", "video", "master.m3u8", now=NOW, valid_from=NOW))
    assert (issued_at(before), issued_at(after)) == (0, NOW.timestamp())
    assert LINKS.is_valid(after, "library", "video", now=NOW)
    assert not LINKS.is_valid(before[:11] + after[11:19] + before[19:], "library", "video", now=NOW)


@pytest.mark.parametrize("change", ["", "pb_", "pb_zz", "x", "pb_ffffffff" + "0" * 32])
def test_malformed_token_is_rejected(change: str) -> None:
    assert not LINKS.is_valid(change, "library", "video", now=NOW)


def test_modified_token_is_rejected() -> None:
    token = token_of(LINKS.url("library", "video", "master.m3u8", now=NOW))
    later = f"pb_{int(token[3:11], 16) + 3600:08x}{token[11:]}"
    for changed in (later, token.upper().replace("PB_", "pb_"), token.removeprefix("pb_"), token[:-1]):
        assert changed == token or not LINKS.is_valid(changed, "library", "video", now=NOW)


def test_logs_redact_token() -> None:
    url = LINKS.url("library", "video", "master.m3u8", now=NOW)
    assert token_of(url)[11:] not in redact(url)
