"""Voices of members of the cast in dubs."""
