"""Tests mirror the paths of what they test."""
