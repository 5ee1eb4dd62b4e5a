"""Moments: selects self-contained parts of a video by their transcript."""
