"""Playback: a video in several sizes and all its languages, for any player, behind URLs that expire."""
