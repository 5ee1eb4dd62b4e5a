"""Moments: what a film talks about, and which stretches of it stand on their own."""
