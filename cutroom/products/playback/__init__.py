"""Playback: streams a video in several renditions and all languages, with signed, expiring URLs."""
