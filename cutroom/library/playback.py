"""Signs playback URLs.

The signature is in the path and not in the query, so that relative URLs in playlists inherit it in every player. A CDN
that has the derived key can verify it too.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cutroom.platform.secret_box import SecretBox

PREFIX = "/media"
MASTER, MANIFEST = "master.m3u8", "manifest.mpd"
PURPOSE = "playback"
LIFETIME = timedelta(hours=12)  # minimum
STEP_SECONDS = 6 * 60 * 60  # expiry is rounded up to this, which keeps URLs cacheable
PLAYBACK_TOKEN_PREFIX = "pb_"  # noqa: S105 (a prefix, not a secret); lets log redaction recognize tokens
_TIME_DIGITS = 8


@dataclass(frozen=True, slots=True)
class PlaybackLinks:
    """Issues and verifies playback tokens."""

    secret_box: SecretBox
    base_url: str

    def url(
        self, library_id: str, video_id: str, name: str, *, now: datetime, valid_from: datetime | None = None
    ) -> str:
        """Returns the URL of a playlist; `valid_from` is since when the library's URLs are valid, if they were revoked.

        The time of signing itself would make every URL different.
        """
        earliest = int((now + LIFETIME).timestamp())
        expires = earliest + -earliest % STEP_SECONDS
        since = int(valid_from.timestamp()) if valid_from is not None else 0
        token = self.token(library_id, video_id, expires, since=since)
        return f"{self.base_url.rstrip('/')}{PREFIX}/{token}/{library_id}/{video_id}/{name}"

    def token(self, library_id: str, video_id: str, expires: int, *, since: int = 0) -> str:
        return _token(expires, since, self.secret_box.sign(PURPOSE, _signed(library_id, video_id, expires, since)))

    def is_valid(self, token: str, library_id: str, video_id: str, *, now: datetime) -> bool:
        digits = token.removeprefix(PLAYBACK_TOKEN_PREFIX)
        try:
            expires, since = int(digits[:_TIME_DIGITS], 16), issued_at(token)
            signature = bytes.fromhex(digits[2 * _TIME_DIGITS :])
        except ValueError:
            return False
        if not self.secret_box.is_signed(PURPOSE, _signed(library_id, video_id, expires, since), signature):
            return False
        # Reject non-canonical spellings, which would be cached twice.
        return token == _token(expires, since, signature) and expires > now.timestamp()


def _token(expires: int, since: int, signature: bytes) -> str:
    return f"{PLAYBACK_TOKEN_PREFIX}{expires:0{_TIME_DIGITS}x}{since:0{_TIME_DIGITS}x}{signature.hex()}"


def issued_at(token: str) -> int:
    """The earliest time at which a token was signed, in seconds of the epoch: what was known of revocations then."""
    digits = token.removeprefix(PLAYBACK_TOKEN_PREFIX)
    return int(digits[_TIME_DIGITS : 2 * _TIME_DIGITS], 16)


def _signed(library_id: str, video_id: str, expires: int, since: int) -> bytes:
    return f"{library_id}/{video_id}/{expires}/{since}".encode()


def master_playlist_name(language: str | None = None) -> str:
    """Return the master playlist with this default audio language, or the original's."""
    return MASTER if language is None else f"master.{language}.m3u8"
