"""Rows: MTU-Bench's published files, and conversations of others, taken apart into questions of one answer each."""
