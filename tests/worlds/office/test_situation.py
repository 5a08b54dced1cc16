"""Whoever acts in the office is told where and when it is and who is logged in, over every transport."""

import pytest
from mcp import Client
from sandbox_scenarios import Suite

from sandbox_mcp.engine.trajectory import MemoryLog, Message
from sandbox_mcp.engine.worlds.office.world import office
from sandbox_mcp.play.server.lobby.seats import Lobby, ManagedSeat
from sandbox_mcp.play.server.lobby.server import lobby_server
from sandbox_mcp.play.server.mcp_server import server_for
from sandbox_mcp.play.session import SessionSpec, chosen_instructions
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.server.serving_kit import ERAS, served

SUITE = Suite()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


NAME = "office_add_reminder"
TOLD = "The user is in Porto. It is Monday, 2027-06-14 08:30:00. drduarte is logged in."


@each(
    ("name", "told"),
    [
        (NAME, TOLD),
        ("office_log_in", "The user is in Porto. It is Monday, 2027-06-14 08:30:00. Nobody is logged in."),
        (
            "office_create_event",
            "The user is in Wellington. It is Monday, 2027-03-15 07:45:00. hemi_sails is logged in.",
        ),
    ],
)
def test_the_situation_is_worded_from_the_scenario(name: str, told: str) -> None:
    assert SessionSpec(SUITE.get(name)).instructions == f"{office.briefing}\n{told}"


def test_other_instructions_do_not_take_the_clock_away() -> None:
    spec = SessionSpec(SUITE.get(NAME), agent=chosen_instructions("brief", "Be brief."))
    assert spec.instructions == f"Be brief.\n{TOLD}"


def test_facts_from_elsewhere_take_the_place_of_the_situation() -> None:
    assert SessionSpec(SUITE.get(NAME), told="It is Tuesday.").instructions == f"{office.briefing}\nIt is Tuesday."


def test_the_log_has_it() -> None:
    scenario, log = SUITE.get(NAME), MemoryLog()
    SessionManager(SUITE).create(SessionSpec(scenario), ScriptedUser.of(scenario.user), sink=log)
    first = next(event for event in log.events if isinstance(event, Message))
    assert (first.recipient, first.content.endswith(TOLD)) == ("agent", True)


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_mcp_tells_it_at_the_sessions_own_server_and_in_the_lobby(era: str) -> None:
    scenario, manager = SUITE.get(NAME), SessionManager(SUITE)
    opened = manager.create(SessionSpec(scenario), ScriptedUser.of(scenario.user))
    async with Client(server_for(opened), mode="auto" if era == ERAS[-1] else era) as agent:
        assert (agent.instructions or "").endswith(TOLD)
    offices = SessionManager(Suite(world="office"))
    lobby = Lobby(offices, ManagedSeat(offices), lambda _: None)
    async with Client(lobby_server(offices.suite, lobby), mode=era) as host:
        started = (await host.call_tool("start_scenario", {"name": NAME})).structured_content
    assert started
    assert TOLD in started["instructions"]


@pytest.mark.anyio
async def test_the_control_api_tells_it() -> None:
    async with served() as server:
        assert (await server.new(scenario=NAME))["instructions"].endswith(TOLD)
