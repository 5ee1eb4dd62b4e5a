"""Dubs: translated speech, time-aligned with the source and mixed with its background audio."""
