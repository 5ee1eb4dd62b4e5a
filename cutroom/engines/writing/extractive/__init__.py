"""Writes titles, descriptions and headlines out of what is said in a film, by rules alone."""
