"""Tests over the API and a worker."""
