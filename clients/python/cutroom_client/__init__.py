"""Client for Cutroom, a service for video and audio work."""
