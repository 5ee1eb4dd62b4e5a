"""What a library can be asked to make, one folder each."""
