"""The job envelope: deterministic ids, legal transitions, begin, finish or fail."""
