"""Webhooks: endpoints, events, signed deliveries and their log."""
