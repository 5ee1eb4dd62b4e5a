"""Framing: who is seen where, and the windows that follow them calmly."""
