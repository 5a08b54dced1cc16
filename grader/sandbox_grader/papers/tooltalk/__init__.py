"""ToolTalk: precision, recall, incorrect actions and success of a session's tool calls against a reference."""

from sandbox_grader.papers.tooltalk.metric import ToolTalk

__all__ = ("ToolTalk",)
