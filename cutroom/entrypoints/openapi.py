"""Prints the OpenAPI document without starting anything."""

import json
import sys
from contextlib import AbstractAsyncContextManager

from cutroom.entrypoints.api import build_app
from cutroom.web.openapi import document
from cutroom.web.runtime import Runtime


def _not_opened() -> AbstractAsyncContextManager[Runtime]:
    raise RuntimeError("describing the API opens nothing")


def main() -> None:
    json.dump(document(build_app(_not_opened)), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
