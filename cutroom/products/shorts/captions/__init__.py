"""Burnt-in captions: words in screens, seven looks, and places that keep off faces."""
