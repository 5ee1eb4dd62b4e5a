"""Routes for operators and for the router in front of cells, which no API key opens."""
