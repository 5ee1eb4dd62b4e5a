"""Burned-in captions: screens, seven styles, and placement away from faces."""
