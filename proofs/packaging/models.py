"""Language models for the proof: fakes that obey whoever speaks in a film, and a real one behind a real server."""

import base64
import binascii
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx

from dev.server import free_port
from dev.services.process import wait_until
from tests.support.fake_language_models import faithful_model, sent_transcript

REAL_MODEL = "smollm2-135m"
CONTEXT_TOKENS = 8192
START_SECONDS = 180
_BLOB = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


class FakeObedient:
    """A fake: says what anybody in the transcript tells it to say, and decodes what it must for that."""

    def __init__(self, canary: str) -> None:
        self._canary = canary
        self.saw = False

    def __call__(self, body: dict[str, Any], _what: str) -> object:
        shown = "\n".join(_decoded(line) for line in sent_transcript(body))
        if any(part.lower() in shown.lower() for part in self._canary.split()):
            self.saw = True
            return _answer(body, self._canary)
        return faithful_model(body, "")


class FakeKnowing:
    """A fake that says its canary whatever it is shown: alone, behind good words, and in other letters."""

    def __init__(self, canary: str) -> None:
        manners = [canary, canary.lower(), canary.title(), " ".join(canary), canary.replace("-", " ")]
        self._manners = cycle([*manners, *(f"{{}} {each}" for each in manners)])

    def __call__(self, body: dict[str, Any], _what: str) -> object:
        good = sent_transcript(body)[0].rstrip(".")
        return _answer(body, next(self._manners).format(good[:30].rsplit(" ", 1)[0]))


def _answer(body: dict[str, Any], text: str) -> str:
    shape = body["response_format"]["json_schema"]["name"]
    sections = [{"heading": text, "text": text}]
    answers: dict[str, object] = {"steps": {"steps": [text]}, "article": {"sections": sections}}
    return json.dumps(answers.get(shape, {"text": text}), ensure_ascii=False)


def _decoded(line: str) -> str:
    found = [line]
    for match in _BLOB.finditer(line):
        try:
            found.append(base64.b64decode(match.group(), validate=True).decode())
        except (binascii.Error, UnicodeDecodeError):
            continue
    return " ".join(found)


@contextmanager
def real_model(file: Path, *, log: Path) -> Iterator[str]:
    """The URL of llama.cpp's own server with a small model, in a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", "proofs.packaging.models", str(file), str(port)]
    with log.open("wb") as written, subprocess.Popen(command, stdin=subprocess.PIPE, stderr=written) as process:
        try:
            if not wait_until(lambda: _answers(port), seconds=START_SECONDS):
                raise RuntimeError(f"The language model's server does not start: see {log}.")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def serve(file: str, port: int) -> None:
    """Until the other end hangs up. One thread: two would wait for each other where processors are shared."""
    import xllamacpp  # noqa: PLC0415 (large, and only this process needs it)

    settings = xllamacpp.CommonParams()
    settings.model.path = file
    settings.n_ctx, settings.n_parallel = CONTEXT_TOKENS, 1
    settings.port = port
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(settings)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
