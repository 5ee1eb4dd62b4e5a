"""Generates what the clients take from the OpenAPI document, and the synchronous client from the asynchronous one."""
