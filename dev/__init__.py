"""Tools to run, inspect and check Cutroom on a developer's machine."""
