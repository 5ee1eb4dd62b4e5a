"""Every change leaves one audit entry, and any manipulation of the log is found."""
