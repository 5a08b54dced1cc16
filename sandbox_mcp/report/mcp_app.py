"""The session's page inside an MCP host, which the lobby hands out once a scenario is over.

Policy: the page is the one of ``report`` and ``view``, drawn by the same scripts; the host gives it its data.
"""

from collections.abc import Mapping
from typing import Any

from sandbox_grader import grade
from sandbox_scenarios import Scenario

from sandbox_mcp.report.page import page
from sandbox_mcp.report.session_page import session_page
from sandbox_mcp.trajectory import Trajectory


class SessionPages:
    """Makes the page of a session that was played in the lobby."""

    def html(self) -> str:
        """The document."""
        return page("host", "Session")

    def page(self, trajectory: Trajectory, scenario: Scenario) -> Mapping[str, Any]:
        """What the document shows of a session: the log, its milestones, its score and the reasons."""
        scores = grade(trajectory, scenario)
        return session_page(trajectory, scores, scenario, "", trajectory.started.session)
