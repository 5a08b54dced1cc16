"""Somebody's phone: settings, contacts, messages, reminders, timers, and what its search tools know."""
