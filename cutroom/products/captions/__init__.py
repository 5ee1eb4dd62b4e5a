"""Captions: the transcript in other languages, broken anew into cues."""
