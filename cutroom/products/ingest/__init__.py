"""How a video gets in: uploads, and imports from a URL."""
