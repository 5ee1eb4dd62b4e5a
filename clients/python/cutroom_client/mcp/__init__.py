"""Tools of the Model Context Protocol, on top of the client: `python -m cutroom_client.mcp`."""
