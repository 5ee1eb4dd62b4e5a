"""Runs the tests of the TypeScript client in Node.js, against a real API and worker."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutroom.errors import ERROR_SPECS
from cutroom.webhooks.signing import new_secret, signed_headers
from dev.typescript_client.toolchain import CLIENT, NODE
from tests.support.stage import Stage

SIGNED_AT = datetime(2026, 11, 15, 2, 0, tzinfo=UTC)
TESTS = sorted((CLIENT / "test").glob("*.test.mjs"))


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name.partition(".")[0])
def test_node(path: Path, stage: Stage, video: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("CUTROOM_")},
        "CUTROOM_BASE_URL": stage.api.url,
        "CUTROOM_API_KEY": stage.key.secret,
        "CUTROOM_TEST_VIDEO": str(video),
        "CUTROOM_ERROR_CODES": json.dumps([(code.value, spec.status) for code, spec in ERROR_SPECS.items()]),
        "CUTROOM_SIGNED_WEBHOOK": json.dumps(_signed_webhook()),
    }
    command = [str(NODE), "--test", "--test-reporter=spec", str(path)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "ℹ pass 0" not in ended.stdout  # noqa: RUF001 (of Node.js)


def _signed_webhook() -> dict[str, object]:
    body = json.dumps({"type": "job.ready", "timestamp": SIGNED_AT.isoformat(), "data": {"id": "import_é"}})
    secret = new_secret()
    headers = signed_headers([secret], body.encode(), message_id="01m7eeq85c1mss7w7v7hzzqy3t", at=SIGNED_AT)
    return {"body": body, "headers": headers, "secret": secret, "now": SIGNED_AT.timestamp() * 1000}
