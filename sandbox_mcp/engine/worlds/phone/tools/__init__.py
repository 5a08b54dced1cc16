"""The phone's tools, one module per domain."""
