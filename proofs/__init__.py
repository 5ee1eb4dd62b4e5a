"""Proofs act as a user on running services, print what they measured, and fail when it does not hold."""
