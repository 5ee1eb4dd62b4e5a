"""Imports videos from URLs and uploads."""
