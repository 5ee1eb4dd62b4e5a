"""Engines: speech, text and vision models behind ports, independent of the database and Temporal."""
