"""Asking language models: what is sent, what comes back, and trying again."""
