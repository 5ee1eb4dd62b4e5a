"""Proves that no reader of the event log misses an event, whatever is killed, and that waiting is cheap."""
