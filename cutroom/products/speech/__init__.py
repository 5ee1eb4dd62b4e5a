"""The speech API: voice cloning, and text-to-speech with clones and stock voices."""
