"""Infrastructure: settings, database, storage, egress, Temporal, Redis and telemetry."""
