"""A dub that is made by workers with stub engines."""

from tests.products.dubs.editing.test_regeneration import regenerator

__all__ = ["regenerator"]
