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
_EXPIRY_DIGITS = 8


@dataclass(frozen=True, slots=True)
class PlaybackLinks:
    """Issues and verifies playback tokens."""

    secret_box: SecretBox
    base_url: str

    def url(self, library_id: str, video_id: str, name: str, *, now: datetime) -> str:
        earliest = int((now + LIFETIME).timestamp())
        expires = earliest + -earliest % STEP_SECONDS
        token = self.token(library_id, video_id, expires)
        return f"{self.base_url.rstrip('/')}{PREFIX}/{token}/{library_id}/{video_id}/{name}"

    def token(self, library_id: str, video_id: str, expires: int) -> str:
        signature = self.secret_box.sign(PURPOSE, _signed(library_id, video_id, expires))
        return f"{PLAYBACK_TOKEN_PREFIX}{expires:0{_EXPIRY_DIGITS}x}{signature.hex()}"

    def is_valid(self, token: str, library_id: str, video_id: str, *, now: datetime) -> bool:
        digits = token.removeprefix(PLAYBACK_TOKEN_PREFIX)
        try:
            expires, signature = int(digits[:_EXPIRY_DIGITS], 16), bytes.fromhex(digits[_EXPIRY_DIGITS:])
        except ValueError:
            return False
        if not self.secret_box.is_signed(PURPOSE, _signed(library_id, video_id, expires), signature):
            return False
        # Reject non-canonical spellings, which would be cached twice.
        return token == self.token(library_id, video_id, expires) and expires > now.timestamp()


def _signed(library_id: str, video_id: str, expires: int) -> bytes:
    return f"{library_id}/{video_id}/{expires}".encode()


def master_playlist_name(language: str | None = None) -> str:
    """Return the master playlist with this default audio language, or the original's."""
    return MASTER if language is None else f"master.{language}.m3u8"
