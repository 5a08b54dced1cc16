"""A stateful, deterministic world of tools for testing agents, served over the Model Context Protocol.

Importing this package imports nothing heavy; every sub-package is imported where it is used.
"""

__version__ = "0.1.0"
