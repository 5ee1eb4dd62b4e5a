"""Libraries: videos, folders, characters and brand voices."""
