"""A video gets in: uploads and imports."""
