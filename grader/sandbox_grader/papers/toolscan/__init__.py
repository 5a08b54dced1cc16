"""ToolScan: seven error patterns in a session's tool calls, each as a share without error."""

from sandbox_grader.papers.toolscan.metric import ToolScan
from sandbox_grader.papers.toolscan.names import name_similarity

__all__ = ("ToolScan", "name_similarity")
