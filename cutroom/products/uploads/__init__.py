"""Resumable uploads: the Google Cloud Storage protocol on top of S3 multipart uploads."""
