"""From one log to its scores: subject, metrics, verdicts, and their explanation."""
