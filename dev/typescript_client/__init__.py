"""Generates the types and operations of the TypeScript client from the OpenAPI document."""
