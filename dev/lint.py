"""Checks shell scripts, the Dockerfile, compose.yaml and the Kubernetes manifests, without network access."""

import subprocess
import sys
from collections.abc import Iterator

from dev.environment import PROJECT
from dev.probe import program_beside_python

SHELL_SCRIPTS = ("dev/bootstrap", ".ci/run")
MANIFESTS = "deploy/kubernetes"
KUBERNETES = "1.34"
COMPOSE_SCHEMA = "vendor.compose-spec"  # bundled with check-jsonschema


def main() -> int:
    return max(subprocess.run(command, cwd=PROJECT, check=False).returncode for command in commands())


def commands() -> Iterator[tuple[str, ...]]:
    for script in SHELL_SCRIPTS:
        if (PROJECT / script).exists():
            yield ("bash", "-n", script)
    yield (_tool("hadolint"), "--failure-threshold", "info", "Dockerfile")
    yield (_tool("check-jsonschema"), "--quiet", "--builtin-schema", COMPOSE_SCHEMA, "compose.yaml")
    manifests = sorted(path.relative_to(PROJECT).as_posix() for path in (PROJECT / MANIFESTS).glob("*.yaml"))
    # Schemas of all Kubernetes versions are bundled; --strict rejects unknown fields.
    yield (_tool("kubernetes-validate"), "--strict", "--quiet", "-k", KUBERNETES, *manifests)


def _tool(name: str) -> str:
    return str(program_beside_python(name))


if __name__ == "__main__":
    sys.exit(main())
