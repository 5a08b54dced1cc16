"""Asking language models: requests, answers, and trying again."""
