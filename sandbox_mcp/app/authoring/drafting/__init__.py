"""Drafting a scenario from a recorded session: what an author would otherwise write down by hand."""

from sandbox_mcp.app.authoring.drafting.draft import Draft, draft, entry_of, prove

__all__ = ("Draft", "draft", "entry_of", "prove")
