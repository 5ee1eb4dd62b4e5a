"""Proof of the studio."""
