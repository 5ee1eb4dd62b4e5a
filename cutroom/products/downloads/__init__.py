"""Downloads: the source, a language video, or an archive of all files."""
