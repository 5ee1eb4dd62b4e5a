"""Moves a library to another cell while it is in use."""
