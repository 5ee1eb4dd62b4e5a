"""Notifications of people by mail and in their browsers, with digests and preferences."""
