"""Rule-based writer that composes titles, descriptions and headlines from a transcript."""
