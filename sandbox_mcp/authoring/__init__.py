"""Helps for whoever writes scenarios: deep lint by mutants, rehearsals, drafts from logs."""
