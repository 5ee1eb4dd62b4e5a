"""Proof of publishable output: what is written about the evaluation talks, as an editor would judge it."""
