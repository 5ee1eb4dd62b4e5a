"""Transcripts: the ground of every other product."""
