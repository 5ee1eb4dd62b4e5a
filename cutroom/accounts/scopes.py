"""API key scopes and the rules for granting them."""

from collections.abc import Iterable
from enum import StrEnum

from cutroom.accounts.plans import Plan
from cutroom.errors import Code, CutroomError


class Scope(StrEnum):
    """Scopes of keys and tokens."""

    VIDEOS_READ = "videos:read"
    VIDEOS_WRITE = "videos:write"
    TRANSCRIPTS_READ = "transcripts:read"
    DUBS_WRITE = "dubs:write"
    SHORTS_WRITE = "shorts:write"
    THUMBNAILS_WRITE = "thumbnails:write"
    PACKAGING_WRITE = "packaging:write"
    DOWNLOADS_WRITE = "downloads:write"
    JOBS_READ = "jobs:read"
    WEBHOOKS_WRITE = "webhooks:write"
    TTS_READ = "tts:read"
    TTS_SYNTHESIZE = "tts:synthesize"
    TTS_WRITE = "tts:write"


ALL_SCOPES = frozenset(Scope)
SPEECH_SCOPES = frozenset({Scope.TTS_READ, Scope.TTS_SYNTHESIZE, Scope.TTS_WRITE})


def grant_scopes(requested: Iterable[Scope], plan: Plan) -> frozenset[Scope]:
    """Return the scopes of a new key: the requested ones, or all if none were requested.

    Requesting speech scopes explicitly on a plan without speech is refused. The full set is granted on any plan,
    because the plan can be upgraded later; speech operations check the plan again.
    """
    scopes = frozenset(requested)
    if scopes & SPEECH_SCOPES and not plan.speech:
        raise CutroomError(Code.PERMISSION_DENIED, details={"reason": "plan_required"})
    return scopes or ALL_SCOPES
