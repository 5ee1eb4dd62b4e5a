"""Speech synthesis: port and adapters."""
