"""Dubs: a video's speech in another language, at its own times, over its own music."""
