"""Redirect URI rules, grantable scopes and PKCE verification."""

import pytest

from cutroom.accounts.oauth import GRANTABLE, OAuthError, _matches, is_challenge, parse_scopes, redirect_uri_error
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
def test_https_and_loopback_redirects_are_allowed(uri: str) -> None:
    assert redirect_uri_error(uri) is None


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
def test_other_redirects_are_rejected(uri: str) -> None:
    assert redirect_uri_error(uri) is not None


def test_only_speech_scopes_are_grantable() -> None:
    assert parse_scopes("") == GRANTABLE
    assert parse_scopes("tts:read") == {Scope.TTS_READ}
    for requested in ("videos:read", "tts:read videos:read", "everything"):
        with pytest.raises(OAuthError):
            parse_scopes(requested)


def test_verifier_matches_only_its_challenge() -> None:
    assert is_challenge(CHALLENGE)
    assert _matches(VERIFIER, CHALLENGE)
    assert not _matches(VERIFIER[:-1] + "l", CHALLENGE)
    assert not _matches(VERIFIER[:42], CHALLENGE)
    assert not _matches(CHALLENGE, CHALLENGE)  # the plain method
    assert not is_challenge(CHALLENGE + "=")
