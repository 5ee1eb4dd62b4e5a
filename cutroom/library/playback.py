"""Signed playback: a path whose first piece says until when everything below it may be read.

The signature stands in the path and not in the query, so that what a playlist names relative to itself carries it on,
in any player. Whoever has the key of its purpose can check it: we do, and a CDN can.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cutroom.platform.secret_box import SecretBox

PREFIX = "/media"
MASTER, MANIFEST = "master.m3u8", "manifest.mpd"
PURPOSE = "playback"
LIFETIME = timedelta(hours=12)  # at least
STEP_SECONDS = 6 * 60 * 60  # URLs stay the same for so long, which caches thank us for
MARK = "pb_"  # by which logs know what to leave out
_EXPIRY_DIGITS = 8


@dataclass(frozen=True, slots=True)
class PlaybackLinks:
    """Makes and checks the signed part of a path."""

    secrecy: SecretBox
    base_url: str

    def url(self, library_id: str, video_id: str, name: str, *, now: datetime) -> str:
        until = int((now + LIFETIME).timestamp())
        expires = until + -until % STEP_SECONDS
        token = self.token(library_id, video_id, expires)
        return f"{self.base_url.rstrip('/')}{PREFIX}/{token}/{library_id}/{video_id}/{name}"

    def token(self, library_id: str, video_id: str, expires: int) -> str:
        signature = self.secrecy.sign(PURPOSE, _signed(library_id, video_id, expires))
        return f"{MARK}{expires:0{_EXPIRY_DIGITS}x}{signature.hex()}"

    def is_good(self, token: str, library_id: str, video_id: str, *, now: datetime) -> bool:
        digits = token.removeprefix(MARK)
        try:
            expires, signature = int(digits[:_EXPIRY_DIGITS], 16), bytes.fromhex(digits[_EXPIRY_DIGITS:])
        except ValueError:
            return False
        if not self.secrecy.is_signed(PURPOSE, _signed(library_id, video_id, expires), signature):
            return False
        # One spelling only: what is read loosely could be cached twice.
        return token == self.token(library_id, video_id, expires) and expires > now.timestamp()


def _signed(library_id: str, video_id: str, expires: int) -> bytes:
    return f"{library_id}/{video_id}/{expires}".encode()


def master_name(language: str | None = None) -> str:
    """The playlist that speaks this language first; without one, the one of the original."""
    return MASTER if language is None else f"master.{language}.m3u8"
