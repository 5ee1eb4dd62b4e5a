"""The API application without a runtime, and its OpenAPI document; built once, because that takes most of a second."""

import pytest

from cutroom.entrypoints.api import build_app
from cutroom.web.openapi import document

APP = build_app(lambda: pytest.fail("describing the API opens nothing"))
DOCUMENT = document(APP)
