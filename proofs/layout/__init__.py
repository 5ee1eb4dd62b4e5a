"""Proof of the code layout."""
