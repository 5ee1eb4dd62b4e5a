"""Cutroom: video and audio work over one HTTP API."""
