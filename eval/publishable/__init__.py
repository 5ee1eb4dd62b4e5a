"""Texts that packaging writes about the evaluation talks, and the verdicts of readers on them."""
