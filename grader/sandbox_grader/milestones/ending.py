"""Whether a session says anything about the agent.

Policy: a session that broke for reasons outside the agent, or whose log stops, is shown with its numbers, not scored.
"""

from sandbox_mcp.trajectory import INFRASTRUCTURE, Trajectory


def unscored(trajectory: Trajectory) -> str | None:
    """Why a session must not be scored; None if it may."""
    ended = trajectory.ended
    if trajectory.cut:
        return "incomplete: the log's last line is cut off"
    if ended is None:
        return "incomplete: the log has no end"
    if ended.reason in INFRASTRUCTURE:
        return f"incomplete: the session ended with {ended.reason!r}" + (f" ({ended.detail})" if ended.detail else "")
    return None
