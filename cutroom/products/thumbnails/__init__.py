"""Thumbnails: directed by a prompt, or out of the film itself."""
