"""Speech recognition and voice activity detection: port and adapters."""
