"""Material of the page of one session: the log, the request, and the outcome.

Policy: everything that needs the grader or the scenario is worked out here; the page only lays out and steps. State is
not repeated: the page folds the changes of the log itself, forward and back.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sandbox_grader import Scores, grade
from sandbox_scenarios.model import Scenario

from sandbox_mcp.app.report.causes import causes, milestone_details, state_of, verdict_of
from sandbox_mcp.app.report.page import page
from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.engine.trajectory.log import plain

IN_THE_LOG = ("clock", "world", "tools")
"""What of the opening event the page needs."""
IN_THE_BRIEF = ("goal", "knows", "does_not_know", "wants_not", "manner")
"""What of the user the page shows, as far as it is not empty."""
NAMES = re.compile(r"name|title|label")


def session_page(
    trajectory: Trajectory, scores: Scores, scenario: Scenario | None, run: str, key: str
) -> dict[str, Any]:
    """Everything that the page of one session shows, as JSON."""
    started, found = trajectory.started, milestone_details(scores)
    verdict = scores.verdicts.get("toolsandbox")
    after = {item.id: list(item.after) for item in scenario.milestones} if scenario else {}
    conduct, ended = scores.verdicts.get("conduct"), trajectory.ended
    user = asdict(scenario.user) if scenario else {}
    told = {name.replace("_", " "): user[name] for name in IN_THE_BRIEF if user.get(name)}
    opening = _event(started)
    tools = [{"name": tool["name"], "tool": tool["tool"]} for tool in opening["tools"]]
    first = {**{name: opening[name] for name in IN_THE_LOG}, "tools": tools}
    log = [first, *map(_event, trajectory.events), *([_event(ended)] if ended else [])]
    return {
        "id": key,
        "run": run,
        "scenario": started.scenario,
        "variant": started.variant,
        "seed": started.seed,
        "trial": started.trial,
        "mode": scores.mode,
        "score": scores.score if scores.scored else None,
        "state": state_of(scores),
        "verdict": verdict_of(scores),
        "floor": verdict.values.get("refusal") if verdict else None,
        "turns": sum(event.get("event") == "message" and event["sender"] == "agent" for event in log),
        "ending": ended.reason if ended else None,
        "goal": scenario.user.goal if scenario else "",
        "brief": told if scenario else None,
        "causes": [asdict(cause) for cause in causes(scores, trajectory)],
        "milestones": [{**item, "after": after.get(item["id"], [])} for item in found if item["kind"] == "milestone"],
        "minefields": [item for item in found if item["kind"] == "minefield"],
        "unwanted": [item for item in found if item["kind"] == "unwanted"],
        "untrue": [item for item in found if item["kind"] == "untrue"],
        "conduct": list(conduct.details) if conduct else [],
        "metrics": scores.to_json()["metrics"],
        "labels": _labels(trajectory),
        "log": log,
    }


def _event(event: object) -> dict[str, Any]:
    """An event as its line in the log has it, without what no page shows."""
    line: dict[str, Any] = json.loads(json.dumps(event, default=plain))
    return {name: value for name, value in line.items() if name not in ("wall", "meta", "visible_to")}


def _labels(trajectory: Trajectory) -> dict[str, str]:
    """Ids and phone numbers with the name of the row that first bore them, at the start or later."""
    labels: dict[str, str] = {}
    rows = [(key, row) for table in (trajectory.started.world or {}).values() for key, row in table.items()]
    for event in trajectory.events:
        rows += [(change.key, change.after) for change in getattr(event, "changes", ()) if change.after]
    for key, row in rows:
        name = next((value for column, value in row.items() if NAMES.search(column) and isinstance(value, str)), None)
        if name:
            labels.setdefault(key, name[:80])
            for value in row.values():
                if isinstance(value, str) and value.startswith("+") and value[1:].isdigit():
                    labels.setdefault(value, name[:80])
    return labels


class SessionPages:
    """The page inside an MCP host, which the lobby hands out once a scenario is over: the host gives it its data."""

    def html(self) -> str:
        """The document."""
        return page("host", "Session")

    def page(self, trajectory: Trajectory, scenario: Scenario) -> Mapping[str, Any]:
        """Content of a session's document: the log, its milestones, its score and the reasons."""
        scores = grade(trajectory, scenario)
        return session_page(trajectory, scores, scenario, "", trajectory.started.session)
