"""Transcripts and subtitles, which most other products build on."""
