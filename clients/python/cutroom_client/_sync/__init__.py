"""The synchronous client, generated from the asynchronous one; only `runtime.py` is written by hand."""
