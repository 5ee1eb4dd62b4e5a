"""The `cutroom` command line. Modules import what is slow to load where they use it, so that help appears at once."""
