"""What people come for: one folder per product."""
