"""Messages between processes, which may be lost: what transactions announce, and who receives it."""
