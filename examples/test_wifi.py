"""An agent under test in pytest: three lines make the fixture, a test reads the report."""

import pytest
from sandbox_clients.function import Asked

from sandbox_mcp import Report, Suite, evaluate


async def agent(asked: Asked) -> str:
    """Turn wifi off, whatever is asked."""
    await asked.tools.call("set_wifi_status", {"on": False})
    return "Wifi is off now."


@pytest.fixture(scope="session")
def report() -> Report:
    return evaluate(agent, Suite().select("wifi_off"), trials=2)


def test_the_agent_turns_wifi_off_every_time(report: Report) -> None:
    assert report.score == 1.0, "\n".join(session.explain() for session in report.failures)
