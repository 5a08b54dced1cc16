"""Batch runs: which sessions to play, playing them, keeping their logs, and summing up what came of it."""
