"""Runs llama.cpp's chat completions server with a local model, as a child of this process."""

import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

import httpx

from cutroom.engines.errors import EngineUnavailableError
from cutroom.media.process import start_server

HOST = "127.0.0.1"
CONTEXT_TOKENS = 8_192  # for each request
START_SECONDS = 180.0
POLL_SECONDS = 0.2
HEALTH_SECONDS = 2.0
STOP_SECONDS = 10.0
# The child needs no settings or secrets of ours.
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHONPATH")


class LlamaServer:
    """A llama.cpp server, started when it is first needed and again if it ends; thread-safe.

    It listens on the loopback interface only, with a key of its own, in our process group. It ends when the pipe to it
    closes, which also happens if this process is killed.
    """

    def __init__(self, model_file: Callable[[], Path], *, cpu_threads: int, concurrency: int = 1) -> None:
        self.key = secrets.token_urlsafe(24)
        self._model_file = model_file
        self._cpu_threads = cpu_threads
        self._concurrency = concurrency
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    def url(self) -> str:
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            return f"http://{HOST}:{self._port}/v1"

    def close(self) -> None:
        with self._lock:
            self._end()

    def _start(self) -> None:
        file = self._model_file()
        self._port = _free_port()
        values = (str(file), str(self._port), str(self._cpu_threads), str(self._concurrency))
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        self._process = start_server([sys.executable, "-m", __name__, *values], environment=environment)
        assert self._process.stdin is not None
        self._process.stdin.write(f"{self.key}\n".encode())  # not an argument, which other users could read
        self._process.stdin.flush()
        deadline = time.monotonic() + START_SECONDS
        while not self._is_healthy():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._end()
                raise EngineUnavailableError("The local language model did not start. Is cutroom[llm] installed?")
            time.sleep(POLL_SECONDS)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _is_healthy(self) -> bool:
        try:
            with httpx.Client(trust_env=False, timeout=HEALTH_SECONDS) as client:
                return client.get(f"http://{HOST}:{self._port}/health").status_code == HTTPStatus.OK
        except httpx.HTTPError:
            return False


def serve(file: str, port: int, *, cpu_threads: int, concurrency: int) -> None:
    """Serves until stdin closes; its first line is the key."""
    import xllamacpp  # noqa: PLC0415 - optional dependency, used in the child only

    parameters = xllamacpp.CommonParams()
    parameters.model.path = file
    parameters.hostnames, parameters.port = [HOST], port
    parameters.api_keys = [sys.stdin.readline().strip()]
    parameters.n_parallel, parameters.n_ctx = concurrency, CONTEXT_TOKENS * concurrency
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = cpu_threads
    server = xllamacpp.Server(parameters)
    sys.stdin.read()
    del server
    os._exit(0)  # its threads may still be generating


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), cpu_threads=int(sys.argv[3]), concurrency=int(sys.argv[4]))
