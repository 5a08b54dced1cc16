"""Commands and batch runs: everything that people start."""
