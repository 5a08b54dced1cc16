"""How the user behaved: what it gave away or made up, whether it fell out of its part, and how it left."""

from sandbox_grader.users.metric import UserConduct

__all__ = ("UserConduct",)
