"""The parts of a table that all papers share: groups, figures, breakdowns, and the forms of output."""
