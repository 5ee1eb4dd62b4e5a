"""Source separation and noise reduction: ports and adapters."""
