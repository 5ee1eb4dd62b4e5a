"""Packaging: generated titles, descriptions and thumbnails."""
