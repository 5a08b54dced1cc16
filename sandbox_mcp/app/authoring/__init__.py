"""Helps for whoever writes scenarios: deep lint by mutants, drafts from logs."""
