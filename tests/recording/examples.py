"""Records the requests and responses that docs/ shows, on a real run over every product."""

import asyncio
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import httpx

from dev.docs.examples import FOLDER, Example, step_of
from dev.services import control

LIST_LENGTH = 2  # items shown of a long list
TEXT_LENGTH = 400
PUBLIC = "https://cutroom.example.com"
SECRETS = ("secret", "xi-api-key", "authorization", "x-api-key")


class Recorder:
    """Records the exchanges of an HTTP client, numbered within each step."""

    def __init__(self, api_url: str) -> None:
        self._api_url = api_url
        self._step = ""
        self._seen: dict[str, int] = {}
        self.examples: list[Example] = []

    def begin(self, step: str) -> None:
        self._step = step

    async def listen(self, response: httpx.Response) -> None:
        await response.aread()
        request = response.request
        await request.aread()  # a form goes out as a stream
        parts = urlsplit(str(request.url))
        if not parts.path.startswith(("/v1/", "/v2/")):
            return
        number = self._seen.get(self._step, 0) + 1
        self._seen[self._step] = number
        is_json = response.headers.get("content-type", "").startswith("application/json")
        query = f"?{parts.query}" if parts.query else ""
        self.examples.append(
            Example(
                name=f"{self._step}-{number}",
                method=request.method,
                path=parts.path + query,
                body=self._body(request),
                form=_form(request),
                headers={name: request.headers[name] for name in ("idempotency-key",) if name in request.headers},
                status=response.status_code,
                answer=self._plain(response.json()) if is_json else None,
                answer_type=response.headers.get("content-type", ""),
            )
        )

    def _body(self, request: httpx.Request) -> Any:  # noqa: ANN401 (JSON)
        is_json = request.headers.get("content-type", "").startswith("application/json")
        return self._plain(json.loads(request.content)) if is_json and request.content else None

    def _plain(self, value: Any) -> Any:  # noqa: ANN401 (JSON)
        """Removes secrets, signatures and local addresses; truncates long lists and texts."""
        if isinstance(value, Mapping):
            return {name: "…" if name in SECRETS else self._plain(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._plain(each) for each in value[:LIST_LENGTH]]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        text = text.replace(self._api_url, PUBLIC)
        if text.startswith(("http://", "https://")):
            text = re.sub(r"/(pb|fl)_[0-9a-f]+/", r"/\1_…/", text)
            return text.partition("?")[0] + ("?…" if "?" in text else "")
        return text if len(text) <= TEXT_LENGTH else text[:TEXT_LENGTH].rstrip() + "…"


def _form(request: httpx.Request) -> dict[str, str] | None:
    """Field names and values of a multipart form; files appear as `@name`."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return None
    content = request.content
    found = {}
    for match in re.finditer(rb'name="([^"]+)"(?:; filename="([^"]+)")?[^\r]*\r\n(?:[^\r]+\r\n)*\r\n', content):
        name, file_name = match.group(1).decode(), match.group(2)
        value = content[match.end() :].partition(b"\r\n--")[0]
        found[name] = f"@{file_name.decode()}" if file_name else value.decode()
    return found


async def record() -> list[Example]:
    """Requests every product, then the core services and the common errors."""
    from tests.support.product_walk import STEPS, configure_worker, open_walk  # noqa: PLC0415 (loads engines)
    from tests.support.shorts_video import make_video  # noqa: PLC0415

    with TemporaryDirectory() as name:
        folder = Path(name)
        video = await asyncio.to_thread(lambda: make_video(folder, long=False))
        async with open_walk("examples", video.path, folder / "stage") as walk:
            recorder = Recorder(walk.stage.api.url)
            walk.client.event_hooks["response"].append(recorder.listen)
            for step in STEPS:
                configure_worker(walk, step)
                recorder.begin(step.__name__)
                await step(walk)
                print(f"{step.__name__}: recorded", file=sys.stderr)
            recorder.begin("core")
            await request_core_services(walk.client, walk.video_id)
    return recorder.examples


async def request_core_services(client: httpx.AsyncClient, video_id: str) -> None:
    """Requests that belong to no product: folders, idempotent replay, reservations, webhooks, lists, errors."""
    key = {"Idempotency-Key": "first-folder"}
    await client.post("/v1/folders", json={"name": "Interviews"}, headers=key)
    await client.post("/v1/folders", json={"name": "Rushes"}, headers=key)
    await client.post(f"/v1/videos/{video_id}/reservations", json={"captionLanguageCodes": ["pt-BR"]})
    await client.post("/v1/webhook-endpoints", json={"url": "https://hooks.example.com/cutroom"})
    await client.get(f"/v1/videos/{video_id}/jobs")
    await client.get("/v1/videos/none")
    await client.post("/v1/folders", json={"name": "All Videos"})


def write(examples: list[Example], folder: Path = FOLDER) -> None:
    """Replaces earlier recordings of the same steps."""
    folder.mkdir(parents=True, exist_ok=True)
    steps = {each.step for each in examples}
    for old in folder.glob("*.json"):
        if step_of(old.stem) in steps:
            old.unlink()
    for each in examples:
        text = json.dumps(asdict(each), indent=2, ensure_ascii=False)
        (folder / f"{each.name}.json").write_text(text + "\n")


def main() -> int:
    control.start_all()
    write(asyncio.run(record()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
