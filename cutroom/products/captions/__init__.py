"""Captions: translated transcripts as subtitles."""
