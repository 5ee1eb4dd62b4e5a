"""Framing: tracks faces and plans crop windows that follow them smoothly."""
