"""A dub that is made by workers with stub engines."""

from tests.products.dubs.editing.conftest import dub_stage, regenerator

__all__ = ["dub_stage", "regenerator"]
