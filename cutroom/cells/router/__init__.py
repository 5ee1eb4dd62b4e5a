"""Forwards each request to the cell of its library."""
