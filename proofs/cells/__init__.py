"""Proves that libraries move between cells under load, and that the loss of a cell stays in it."""
