"""People who speak in the videos of a library: their names, voices and voice prints."""
