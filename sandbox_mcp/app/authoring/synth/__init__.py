"""New scenarios drafted by a model, with our checks and the papers' as the filter."""

from sandbox_mcp.app.authoring.synth.orders import KINDS, DraftOrder, bases_of, orders
from sandbox_mcp.app.authoring.synth.synthesis import Synthesis, synthesise

__all__ = ("KINDS", "DraftOrder", "Synthesis", "bases_of", "orders", "synthesise")
