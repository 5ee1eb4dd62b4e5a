"""A dub that is made by workers with stub engines."""

from tests.products.dubs.editing.conftest import regenerator

__all__ = ["regenerator"]
