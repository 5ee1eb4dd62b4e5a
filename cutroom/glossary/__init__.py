"""The glossary of a library: terms, their translations and pronunciations."""
