"""Prints the OpenAPI document without opening connections."""

import json
import sys
from contextlib import AbstractAsyncContextManager
from typing import Any

from cutroom.entrypoints.api import build_app
from cutroom.web.openapi import document
from cutroom.web.runtime import Runtime


def _no_runtime() -> AbstractAsyncContextManager[Runtime]:
    raise RuntimeError("the OpenAPI document needs no runtime")


def openapi_document() -> dict[str, Any]:
    return document(build_app(_no_runtime))


def main() -> None:
    json.dump(openapi_document(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
