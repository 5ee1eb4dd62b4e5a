"""The `cutroom-server doctor` command: checks every part where the product uses it."""
