"""Professional hosting: the source at a provider that transcodes and delivers it, where a plan allows it."""
