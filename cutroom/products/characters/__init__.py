"""Character images: uploaded through the API, decoded by a worker only."""
