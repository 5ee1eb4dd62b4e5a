"""Engines: what computes words, voices and sentences. They know neither the database nor Temporal."""
