"""MTU-Bench's rows, played by any agent: every turn of a dialogue by itself, on the history that the row gives."""
