"""Process entry points: API, worker and command line."""
