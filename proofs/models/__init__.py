"""Models pulled from a mirror by the command line."""
