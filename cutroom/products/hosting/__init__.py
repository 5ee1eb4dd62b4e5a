"""Professional hosting: sends the source to a provider that transcodes and delivers it."""
