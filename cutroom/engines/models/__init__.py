"""The model store: manifest, sources, verification and loading."""
