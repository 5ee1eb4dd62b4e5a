"""Shorts, promos and clips: selects moments of a video, crops and captions them."""
