"""Drafts of scenarios for a live server: its tools, called with values that it takes, as wishes with milestones."""
