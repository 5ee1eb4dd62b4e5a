"""Thumbnails from a prompt, or from the video itself."""
