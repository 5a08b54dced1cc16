"""The worlds that come with this package."""
