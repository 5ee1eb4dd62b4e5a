"""Evaluation of recognition, translation and dubbing on talks with reference translations."""
