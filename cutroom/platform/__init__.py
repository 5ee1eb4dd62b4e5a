"""What every other room stands on: settings, database, storage, time, ids, telemetry."""
