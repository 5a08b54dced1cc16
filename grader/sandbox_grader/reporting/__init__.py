"""From many logs to one report: statistics, comparison, tables, kept scores."""
