"""What text says: its words, where its sentences end, and where it turns to another thing; no engine, only rules."""
