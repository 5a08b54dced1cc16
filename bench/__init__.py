"""Measurements of the budgets."""
