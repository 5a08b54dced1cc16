"""Milestones and minefields: what should, and what must not, happen in a session."""
