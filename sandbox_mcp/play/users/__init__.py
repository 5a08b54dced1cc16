"""Simulated users, behind one interface."""

from sandbox_mcp.play.users.base import Line, User, UserAct, UserCall, UserError, UserTurn, as_read
from sandbox_mcp.play.users.scripted import ScriptedUser

__all__ = ("Line", "ScriptedUser", "User", "UserAct", "UserCall", "UserError", "UserTurn", "as_read")
