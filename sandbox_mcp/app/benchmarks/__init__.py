"""Benchmarks of others that agents can play here, one package for each paper."""
