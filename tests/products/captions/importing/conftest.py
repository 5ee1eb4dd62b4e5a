"""Captions beside those that tests import."""

from tests.products.captions.editing.conftest import track

__all__ = ["track"]
