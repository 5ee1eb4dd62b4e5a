"""Downloads: the source, a video in one language, or everything in one archive."""
