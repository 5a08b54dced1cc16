"""Simulated users, behind one interface."""

from sandbox_mcp.users.base import Line, User, UserCall, UserError, UserTurn
from sandbox_mcp.users.scripted import ScriptedUser

__all__ = ("Line", "ScriptedUser", "User", "UserCall", "UserError", "UserTurn")
