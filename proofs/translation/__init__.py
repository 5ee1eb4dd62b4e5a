"""Proof of translation: routes are sold as what readers found, and lines keep names and numbers."""
