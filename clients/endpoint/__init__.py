"""The scripted model endpoint: speaks the providers' protocols, and says what a script or a scenario tells it to.

It stands in for a model where none is at hand: in tests, and in a dry run of somebody's own stack without a key.
"""

from clients.endpoint.prompt import Call, Prompt, Step, Turn
from clients.endpoint.reply import Brain, Fault, Move, PlannedMove, Reply

__all__ = ("Brain", "Call", "Fault", "Move", "PlannedMove", "Prompt", "Reply", "Step", "Turn")
