"""Checks what the documentation refers to: settings, commands, recipes, modules, operations and request bodies.

Console commands of ours are parsed by the command line itself, without being run; JSON bodies of requests are
validated with the schema of the operation.
"""

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from cutroom.entrypoints.api import build_app
from cutroom.entrypoints.cli import app as command_line
from cutroom.platform.settings import Settings
from cutroom.web.openapi import document
from dev.environment import PROJECT

PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "deploy/**/*.md")
SOURCES = ("cutroom", "clients", "dev", "deploy", "proofs", ".ci", "justfile", "compose.yaml", "Dockerfile")
SETTING = re.compile(r"\bCUTROOM_[A-Z0-9]+(?:_[A-Z0-9]+)*\b")
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)", re.MULTILINE)
INLINE_COMMAND = re.compile(r"`((?:just|cutroom-server|python -m) [^`\n]+)`")
OPERATION = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) (/v1/[^`\s?]*)`")
REJECTED = re.compile(r"No such \w+:? '?[\w-]+'?")
MODULE_RECIPES = {"prove": "proofs", "bench": "bench"}
SERVER = "cutroom-server"


def find_problems(folder: Path = PROJECT) -> list[str]:
    """Returns one line per reference that does not hold."""
    pages = sorted({path for pattern in PAGES for path in folder.glob(pattern)})
    return [f"{page.relative_to(folder)}: {problem}" for page in pages for problem in page_problems(page.read_text())]


def page_problems(text: str) -> Iterator[str]:
    """Yields what is wrong with the references of one page."""
    checks: Sequence[Callable[[str], Iterator[str]]] = (_settings, _commands, _operations)
    for check in checks:
        yield from check(text)


def _settings(text: str) -> Iterator[str]:
    for name in sorted(set(SETTING.findall(text))):
        if name.removeprefix("CUTROOM_").lower() not in Settings.model_fields and name not in _mentioned_in_sources():
            yield f"unknown setting {name}"


@cache
def _mentioned_in_sources() -> frozenset[str]:
    """Variables of development and deployment, which are not settings of the service."""
    found = subprocess.run(
        ["git", "grep", "--untracked", "-hoE", "CUTROOM_[A-Z0-9_]+", "--", *SOURCES],
        cwd=PROJECT,
        check=True,
        capture_output=True,
        text=True,
    )
    return frozenset(found.stdout.split())


def _commands(text: str) -> Iterator[str]:
    blocks = (match[1].replace("\\\n", " ") for match in COMMAND.finditer(text))
    for command in (*blocks, *INLINE_COMMAND.findall(text)):
        try:
            words = shlex.split(command, comments=True)
        except ValueError as error:
            yield f"`{command}` cannot be parsed: {error}"
            continue
        problem = _command_problem(words)
        if problem:
            yield f"`{command}`: {problem}"


def _command_problem(words: Sequence[str]) -> str:
    if SERVER in words and not words[0].startswith(("alias", "docker", "kubectl")):
        return _server_problem([*words[words.index(SERVER) + 1 :]])
    if words[:1] == ["just"]:
        return _recipe_problem(words[1:])
    if words[:2] == ["python", "-m"] or "-m" in words[:-1]:
        return _module_problem(words[words.index("-m") + 1])
    if words[:1] == ["curl"]:
        return _request_problem(words)
    return ""


def _server_problem(words: Sequence[str]) -> str:
    """Parses the words as `cutroom-server` would: with `--help`, it rejects unknown commands and options only."""
    plain = [word.strip("[]") for word in words if word not in {"…", "..."}]
    result = CliRunner().invoke(command_line, [*plain, "--help"], env={"TERM": "dumb", "COLUMNS": "200"})
    return "" if result.exit_code == 0 else next(iter(REJECTED.findall(result.output)), "cannot be parsed")


@cache
def _recipes() -> frozenset[str]:
    listed = subprocess.run(["just", "--summary"], cwd=PROJECT, check=True, capture_output=True, text=True)
    return frozenset(listed.stdout.split())


def _recipe_problem(words: Sequence[str]) -> str:
    name = next((word for word in words if not word.startswith("-")), "")
    if name and name not in _recipes():
        return f"no recipe {name}"
    package = MODULE_RECIPES.get(name)
    argument = words[1] if len(words) > 1 else ""
    if package and re.fullmatch(r"[a-z][a-z0-9-]*", argument):
        return _module_problem(f"{package}.{argument.replace('-', '_')}")
    return ""


def _module_problem(name: str) -> str:
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    return "" if found else f"no module {name}"


@cache
def _openapi() -> dict[str, Any]:
    def no_runtime() -> Any:  # noqa: ANN401 (never called)
        raise RuntimeError

    return document(build_app(no_runtime))


@cache
def _paths() -> Mapping[str, "re.Pattern[str]"]:
    return {path: re.compile(re.sub(r"\{[^}]+\}", r"[^/]+", path.rstrip("/"))) for path in _openapi()["paths"]}


def _operation(method: str, path: str) -> dict[str, Any] | None:
    for template, pattern in _paths().items():
        if pattern.fullmatch(path.rstrip("/")):
            found = _openapi()["paths"][template].get(method.lower())
            if found is not None:
                return dict(found)
    return None


def _operations(text: str) -> Iterator[str]:
    for method, path in OPERATION.findall(text):
        operation = _operation("get" if method == "HEAD" else method, re.sub(r"\{[^}]+\}|…", "x", path))
        if operation is None:
            yield f"no operation {method} {path}"


def _request_problem(words: Sequence[str]) -> str:
    address = next((word for word in words if word.startswith("$API/")), None)
    if address is None:  # another server, or an upload session
        return ""
    path = "/v1" + address.removeprefix("$API").partition("?")[0]
    body = words[words.index("-d") + 1] if "-d" in words else None
    method = words[words.index("-X") + 1] if "-X" in words else "POST" if {"-d", "-F"} & {*words} else "GET"
    operation = _operation(method, path)
    if operation is None:
        return f"no operation {method} {path}"
    return _body_problem(operation, body) if body is not None else ""


def _body_problem(operation: Mapping[str, Any], body: str) -> str:
    if "…" in body or "$" in body:
        return ""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        return "takes no JSON body"
    validator = Draft202012Validator({**schema, "components": _openapi()["components"]})
    errors = [error.message for error in validator.iter_errors(json.loads(body))]
    return errors[0][:200] if errors else ""


def main() -> int:
    problems = find_problems()
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
