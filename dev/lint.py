"""Checks the files that no Python tool reads: shell scripts, the Dockerfile, compose.yaml and the manifests for
Kubernetes; needs no network."""

import subprocess
import sys
from collections.abc import Iterator

from dev.environment import PROJECT
from dev.probe import program_beside_python

SHELL_SCRIPTS = ("dev/bootstrap", ".ci/run")
MANIFESTS = "deploy/kubernetes"
KUBERNETES = "1.34"
COMPOSE_SCHEMA = "vendor.compose-spec"  # comes with check-jsonschema


def main() -> int:
    return max(subprocess.run(command, cwd=PROJECT, check=False).returncode for command in commands())


def commands() -> Iterator[tuple[str, ...]]:
    for script in SHELL_SCRIPTS:
        if (PROJECT / script).exists():
            yield ("bash", "-n", script)
    yield (_tool("hadolint"), "--failure-threshold", "info", "Dockerfile")
    yield (_tool("check-jsonschema"), "--quiet", "--builtin-schema", COMPOSE_SCHEMA, "compose.yaml")
    manifests = sorted(path.relative_to(PROJECT).as_posix() for path in (PROJECT / MANIFESTS).glob("*.yaml"))
    # It carries the schemas of every version of Kubernetes; strict refuses names that it does not know.
    yield (_tool("kubernetes-validate"), "--strict", "--quiet", "-k", KUBERNETES, *manifests)


def _tool(name: str) -> str:
    return str(program_beside_python(name))


if __name__ == "__main__":
    sys.exit(main())
