"""Cells: where each library lives, the router in front of them, and moves between them."""
