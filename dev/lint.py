"""Checks shell scripts, the Dockerfile, compose.yaml and the Kubernetes manifests, without network access."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from dev.environment import PROJECT
from dev.kustomize import render
from dev.probe import program_beside_python

SHELL_SCRIPTS = ("dev/bootstrap", ".ci/run")
MANIFESTS = PROJECT / "deploy" / "kubernetes"
# Folders that are applied; the others are parts of them.
APPLIED = ("base/setup", "base/run", "example/setup", "example/run", "example/run-gpu", "temporal")
CUSTOM = frozenset({"ScaledObject"})  # kinds whose schemas are not Kubernetes' own; a test checks them
KUBERNETES = "1.34"
COMPOSE_SCHEMA = "vendor.compose-spec"  # bundled with check-jsonschema


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return max(subprocess.run(each, cwd=PROJECT, check=False).returncode for each in commands(Path(folder)))


def commands(folder: Path) -> Iterator[tuple[str, ...]]:
    for script in SHELL_SCRIPTS:
        if (PROJECT / script).exists():
            yield ("bash", "-n", script)
    yield (_tool("hadolint"), "--failure-threshold", "info", "Dockerfile")
    compose = ("compose.yaml", "deploy/compose.gpu.yaml")
    yield (_tool("check-jsonschema"), "--quiet", "--builtin-schema", COMPOSE_SCHEMA, *compose)
    # Schemas of all Kubernetes versions are bundled; --strict rejects unknown fields.
    rendered = [_rendered(name, folder) for name in APPLIED]
    yield (_tool("kubernetes-validate"), "--strict", "--quiet", "-k", KUBERNETES, *rendered)


def _rendered(name: str, folder: Path) -> str:
    path = folder / f"{name.replace('/', '-')}.yaml"
    resources = [each for each in render(MANIFESTS / name) if each["kind"] not in CUSTOM]
    path.write_text(yaml.safe_dump_all(resources))
    return str(path)


def _tool(name: str) -> str:
    return str(program_beside_python(name))


if __name__ == "__main__":
    sys.exit(main())
