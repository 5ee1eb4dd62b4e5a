"""The web app: server-rendered pages on top of the API operations."""
