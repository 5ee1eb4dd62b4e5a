"""Packaging: titles, descriptions and thumbnails that a film goes out with."""
