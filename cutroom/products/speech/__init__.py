"""The speech API: voice clones, and text read aloud in them or in the voices of the engines."""
