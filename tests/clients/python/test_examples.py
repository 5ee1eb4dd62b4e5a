"""The recipes of the guide run as programs."""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest
from cutroom_client import Cutroom, webhooks

from dev.environment import PROJECT
from dev.server import free_port

EXAMPLES = PROJECT / "clients" / "python" / "examples"
GUIDE = PROJECT / "docs" / "python-client.md"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def _environment(client: Cutroom, folder: Path) -> dict[str, str]:
    return {
        "CUTROOM_API_KEY": client.settings.api_key.get_secret_value(),
        "CUTROOM_BASE_URL": client.settings.base_url,
        "CUTROOM_STATE_DIR": str(folder / "state"),
    }


def _run(name: str, *arguments: str, environment: Mapping[str, str], folder: Path) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True, text=True).stdout


def test_guide_shows_every_program() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    missing = [each.name for each in EXAMPLES.glob("*.py") if each.read_text(encoding="utf-8").strip() not in text]
    assert not missing


def test_upload_and_events(client: Cutroom, tmp_path: Path) -> None:
    environment = _environment(client, tmp_path)
    (tmp_path / "talk.mp4").write_bytes(b"not a video, but bytes")
    assert "talk.mp4" in _run("upload.py", "talk.mp4", environment=environment, folder=tmp_path)
    [video] = client.videos.list()
    client.jobs.handle(f"import_{video.id}").cancel()
    assert f"job.cancelled import_{video.id}" in _run("events.py", "c", environment=environment, folder=tmp_path)
    assert not _run("events.py", "c", environment=environment, folder=tmp_path)


def test_glossary(client: Cutroom, tmp_path: Path) -> None:
    environment = _environment(client, tmp_path)
    for _ in range(2):
        assert "Ada" in _run("glossary.py", "Cutroom", "Ada", environment=environment, folder=tmp_path)
    assert {each.term for each in client.glossary.list()} == {"Cutroom", "Ada"}


@pytest.mark.parametrize(("secret", "status"), [(SECRET, 204), ("whsec_b3RoZXI=", 400)])
def test_webhook_receiver(secret: str, status: int) -> None:
    body, port = b'{"type":"job.ready","data":{"id":"import_1"}}', free_port()
    arguments = (str(EXAMPLES / "webhook_receiver.py"), str(port))
    process = subprocess.Popen([sys.executable, *arguments], env={"WEBHOOK_SECRET": SECRET})
    try:
        headers = webhooks.sign(body, secret, message_id="msg_1", timestamp=int(time.time()))
        request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, headers)
        assert _status(process, request) == status
    finally:
        process.terminate()
        process.wait()


def _status(process: "subprocess.Popen[bytes]", request: urllib.request.Request) -> int:
    while process.poll() is None:
        try:
            with urllib.request.urlopen(request) as response:  # noqa: S310 (our own loopback)
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:  # it does not listen yet
            continue
    raise AssertionError("the receiver ended")


def test_client_needs_only_its_dependencies() -> None:
    program = "import sys, cutroom_client; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert not {"cutroom", "typer", "keyring", "mcp"} & set(loaded)  # httpx imports rich where it is installed
