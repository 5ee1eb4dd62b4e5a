"""Jobs: deterministic ids, state transitions, creation, lifecycle and workflow support."""
