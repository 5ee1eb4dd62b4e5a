"""Language models: fakes that follow injected instructions, and a real model behind the llama.cpp server."""

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
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


class FakeObedient:
    """A fake that outputs the canary when the transcript contains it, also in base64."""

    def __init__(self, canary: str) -> None:
        self._canary = canary
        self.saw_canary = False

    def __call__(self, body: dict[str, Any], _what: str) -> object:
        transcript = "\n".join(_decoded(line) for line in sent_transcript(body)).lower()
        if any(word.lower() in transcript for word in self._canary.split()):
            self.saw_canary = True
            return _response(body, self._canary)
        return faithful_model(body, "")


class FakeLeaking:
    """A fake that always outputs its canary: alone or after grounded text, in varying case and spacing."""

    def __init__(self, canary: str) -> None:
        variants = [canary, canary.lower(), canary.title(), " ".join(canary), canary.replace("-", " ")]
        self._variants = cycle([*variants, *(f"{{}} {each}" for each in variants)])

    def __call__(self, body: dict[str, Any], _what: str) -> object:
        sentence = sent_transcript(body)[0].rstrip(".")
        return _response(body, next(self._variants).format(sentence[:30].rsplit(" ", 1)[0]))


def _response(body: dict[str, Any], text: str) -> str:
    schema = body["response_format"]["json_schema"]["name"]
    sections = [{"heading": text, "text": text}]
    responses: dict[str, object] = {"steps": {"steps": [text]}, "article": {"sections": sections}}
    return json.dumps(responses.get(schema, {"candidates": [text]}), ensure_ascii=False)


def _decoded(line: str) -> str:
    found = [line]
    for match in _BASE64.finditer(line):
        try:
            found.append(base64.b64decode(match.group(), validate=True).decode())
        except (binascii.Error, UnicodeDecodeError):
            continue
    return " ".join(found)


@contextmanager
def real_model(file: Path, *, log: Path) -> Iterator[str]:
    """Run llama.cpp's server with a small model in a subprocess; yields its URL."""
    port = free_port()
    command = [sys.executable, "-m", "proofs.packaging.models", str(file), str(port)]
    with log.open("wb") as log_file, subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log_file) as process:
        try:
            if not wait_until(lambda: _is_healthy(port), seconds=START_SECONDS):
                raise RuntimeError(f"The language model server did not start: see {log}.")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _is_healthy(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def serve(file: str, port: int) -> None:
    """Serve until stdin closes. One thread, because several block each other on shared cores."""
    import xllamacpp  # noqa: PLC0415 (large; only this process needs it)

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
