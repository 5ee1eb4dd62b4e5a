"""Customer endpoints that are told what happened."""
