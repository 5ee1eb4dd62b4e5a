"""Speaker diarization: embeddings, clustering and pitch."""
