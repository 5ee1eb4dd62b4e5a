"""Pictures of characters that people send in: opened by a worker, never by the API."""
