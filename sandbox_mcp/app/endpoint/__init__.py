"""The scripted model endpoint: speaks the providers' protocols, and says what a script or a scenario tells it to.

It stands in for a model where none is at hand: in tests, and in a dry run of a whole stack without a key.
"""

from sandbox_mcp.app.endpoint.prompt import ModelStep, Prompt, PromptTurn
from sandbox_mcp.app.endpoint.reply import Brain, ModelReply, Move, PlannedFault, PlannedMove

__all__ = ("Brain", "ModelReply", "ModelStep", "Move", "PlannedFault", "PlannedMove", "Prompt", "PromptTurn")
