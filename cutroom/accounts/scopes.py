"""The thirteen scopes a key can carry, and the rules for minting them."""

from collections.abc import Iterable
from enum import StrEnum

from cutroom.accounts.plans import Plan
from cutroom.errors import Code, CutroomError


class Scope(StrEnum):
    """What a key allows."""

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


def mint_scopes(requested: Iterable[Scope], plan: Plan) -> frozenset[Scope]:
    """The scopes a new key gets: what was asked for, or all of them when nothing was.

    Asking for speech by name on a plan without it is refused. The full set is minted on any plan, because
    a plan can grow later; speech requests check the plan again.
    """
    scopes = frozenset(requested)
    if scopes & SPEECH_SCOPES and not plan.speech:
        raise CutroomError(Code.PERMISSION_DENIED, details={"reason": "plan_required"})
    return scopes or ALL_SCOPES
