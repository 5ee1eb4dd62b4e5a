"""Cutroom: video and audio work over one HTTP API."""

__version__ = "0.2.0.dev0"
