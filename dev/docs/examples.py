"""Reads the recorded examples under docs/examples/ and renders them as Markdown."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.environment import PROJECT

FOLDER = PROJECT / "docs" / "examples"


@dataclass(frozen=True, slots=True)
class Example:
    """One recorded request and its response."""

    name: str
    method: str
    path: str
    body: Any
    form: dict[str, str] | None
    headers: dict[str, str]
    status: int
    answer: Any
    answer_type: str

    @property
    def step(self) -> str:
        return step_of(self.name)


def step_of(name: str) -> str:
    """Step of an example: its name without the number."""
    return name.rpartition("-")[0]


def read_examples(folder: Path = FOLDER) -> dict[str, Example]:
    found = [Example(**json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]
    return {each.name: each for each in found}


def render(example: Example) -> Iterator[str]:
    """Renders an example as Markdown: the request as a curl command, and the response."""
    curl = [f'curl "$API{example.path.removeprefix("/v1")}"' if example.path.startswith("/v1") else
            f'curl "${{API%/v1}}{example.path}"', '-H "Authorization: Bearer $KEY"']  # fmt: skip
    curl += [f"-H '{name.title()}: {value}'" for name, value in example.headers.items()]
    if example.method not in {"GET", "POST"}:
        curl.append(f"-X {example.method}")
    curl += [f"-F {name}={value}" for name, value in (example.form or {}).items()]
    if example.body is not None:
        body = json.dumps(example.body, ensure_ascii=False)
        curl += [
            "-H 'Content-Type: application/json'",
            f"-d '{body.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'",
        ]
    yield "```console"
    yield "$ " + " \\\n    ".join(curl)
    yield "```"
    yield ""
    if example.answer is None:
        yield f"Returns {example.status} with `{example.answer_type or 'no body'}`."
        return
    yield f'```json title="{example.status}"'
    yield json.dumps(example.answer, indent=2, ensure_ascii=False)
    yield "```"
