"""Benchmarks of the product against its bare components."""
