"""Measurements against the bare parts."""
