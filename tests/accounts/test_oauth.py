"""Where codes may go, what can be asked for, and how a verifier fits its challenge."""

import pytest

from cutroom.accounts.oauth import GRANTABLE, OAuthError, _matches, fault_in_redirect, is_challenge, read_scopes
from cutroom.accounts.scopes import Scope

# From RFC 7636, appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@pytest.mark.parametrize(
    "uri",
    [
        "https://app.example.com/callback",
        "https://app.example.com/callback?from=cutroom",
        "http://127.0.0.1:3000/callback",
        "http://[::1]/callback",
        "http://localhost/callback",
    ],
)
def test_codes_go_to_tls_and_to_the_person_s_own_machine(uri: str) -> None:
    assert fault_in_redirect(uri) is None


@pytest.mark.parametrize(
    "uri",
    [
        "http://app.example.com/callback",
        "http://10.0.0.1/callback",
        "https://app.example.com/#part",
        "https://user:word@app.example.com/",
        "https:///callback",
        "javascript:alert(1)",
        "data:text/html,hello",
        "app:/callback",
        "https://app.example.com/ a",
        "https://app.example.com\\@evil.example/",
        "https://app.example.com/\n",
        "https://[broken/",
        "https://app.example.com/" + "a" * 500,
        "",
    ],
)
def test_codes_go_nowhere_else(uri: str) -> None:
    assert fault_in_redirect(uri) is not None


def test_only_speech_can_be_granted_and_nothing_named_means_all_of_it() -> None:
    assert read_scopes("") == GRANTABLE
    assert read_scopes("tts:read") == {Scope.TTS_READ}
    for asked in ("videos:read", "tts:read videos:read", "everything"):
        with pytest.raises(OAuthError):
            read_scopes(asked)


def test_a_verifier_fits_its_own_challenge_only() -> None:
    assert is_challenge(CHALLENGE)
    assert _matches(VERIFIER, CHALLENGE)
    assert not _matches(VERIFIER[:-1] + "l", CHALLENGE)
    assert not _matches(VERIFIER[:42], CHALLENGE)
    assert not _matches(CHALLENGE, CHALLENGE)  # the plain method
    assert not is_challenge(CHALLENGE + "=")
