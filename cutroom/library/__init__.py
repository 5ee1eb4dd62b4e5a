"""Videos, folders, characters and brand voices of one library."""
