"""Pages of the cast: its members, their voices and appearances, and where speakers are recognized."""
