"""The server: sessions as MCP over stdio and HTTP, the lobby, and the HTTP API that harnesses use.

Importing this package imports nothing heavy; ``mcp`` alone takes most of a second, so its modules import it when they
are imported themselves.
"""
