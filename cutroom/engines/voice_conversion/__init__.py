"""Voice cloning from a reference sample: port and adapters."""
