"""Text processing without engines: language tags, numbers, sentences, placeholders and normalization."""
