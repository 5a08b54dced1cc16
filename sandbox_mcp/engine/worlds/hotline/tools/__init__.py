"""Tools of the hotline, and acts of its callers."""
