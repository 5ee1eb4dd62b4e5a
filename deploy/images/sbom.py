"""Writes the software bill of materials of an image: its Python and Debian packages, as one CycloneDX document.

Runs in the last build step of every image: `python sbom.py VENV OUTPUT`.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

DPKG_FORMAT = "${db:Status-Status}\t${Package}\t${Version}\t${Architecture}\t${Maintainer}\n"


def main(environment: Path, output: Path) -> None:
    document = python_packages(environment)
    document["components"] = [*document.get("components", []), *debian_packages()]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(document, indent=1), encoding="utf-8")


def python_packages(environment: Path) -> dict[str, Any]:
    """The CycloneDX document of a virtual environment."""
    tool = Path(sys.executable).parent / "cyclonedx-py"
    command = [str(tool), "environment", "--output-format=JSON", "--output-reproducible", str(environment)]
    document: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)  # noqa: S603 (of the build stage)
    return document


def debian_packages() -> list[dict[str, Any]]:
    """A component for each installed Debian package."""
    command = ["dpkg-query", "--show", f"--showformat={DPKG_FORMAT}"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 (a constant)
    lines = listed.stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    return [_component(*fields) for status, *fields in rows if status == "installed"]


def _component(name: str, version: str, architecture: str, maintainer: str) -> dict[str, Any]:
    purl = f"pkg:deb/debian/{name}@{quote(version, safe='')}?arch={architecture}"
    supplier = {"name": maintainer}
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "supplier": supplier,
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
