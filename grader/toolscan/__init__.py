"""ToolScan: seven error patterns in a session's tool calls, each as a share without error."""

from grader.toolscan.metric import ToolScan
from grader.toolscan.names import name_similarity

__all__ = ("ToolScan", "name_similarity")
