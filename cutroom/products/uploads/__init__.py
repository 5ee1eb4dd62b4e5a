"""Files come in over the resumable protocol of Google Cloud Storage, spoken over S3 multipart uploads."""
