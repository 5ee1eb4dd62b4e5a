"""Translation and language identification: port, adapters, routing and output checks."""
