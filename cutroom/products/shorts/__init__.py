"""Shorts, promos and clips: moments of a video, cut, framed and captioned so that one would post them."""
