"""The agents that come with the package, and those that users bring: each in a real session."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sandbox_clients.base import Agent, AgentError, AgentTurn, Brief, UnknownAgentError
from sandbox_clients.function import Asked, FunctionAgent
from sandbox_clients.reference import NOTHING_LEFT, REFUSAL, ReferenceAgent, RefuseAgent
from sandbox_clients.registry import AGENTS, agent_named
from sandbox_clients.settings import AgentSettings
from sandbox_grader.milestones import baselines
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution
from sandbox_scenarios.plan import PlanError

from sandbox_mcp.play.models.asking import EndpointSettings
from tests.clients.sessions import LOW_BATTERY, SUITE, opened, run, write


def turns(agent: Agent, *messages: str, scenario: Any = LOW_BATTERY, solution: Any = None) -> tuple[list[str], Any]:
    async def work() -> tuple[list[str], Any]:
        async with opened(scenario) as session:
            brief = session.brief if solution is None else Brief("", session.target, solution)
            async with agent.converse(brief) as conversation:
                return [(await conversation.turn(message)).text for message in messages], session.calls

    return run(work)


def planned(*turns: tuple[list[PlannedCall], str]) -> Solution:
    return Solution(tuple(PlannedTurn(tuple((call,) for call in calls), reply) for calls, reply in turns))


def test_the_reference_agent_does_what_the_solution_says() -> None:
    said, calls = turns(ReferenceAgent(), "Text my sister.")
    assert said == [LOW_BATTERY.solutions[0].turns[0].reply]
    assert [call.tool for call in calls] == [call.tool for call in LOW_BATTERY.solutions[0].turns[0].calls]
    assert calls[-1].arguments["phone_number"] == "+17735550113"


def test_the_reference_agent_goes_on_with_what_it_found_a_turn_ago() -> None:
    scenario = SUITE.get("last_text_reply")
    said, calls = turns(ReferenceAgent(), "What does it say?", "Write back.", scenario=scenario)
    assert calls[-1].arguments["phone_number"] == "+33639980124"
    assert "Sent to" in said[1]


def test_calls_of_one_batch_are_sent_together() -> None:
    scenario = SUITE.get("colleagues_to_friends")
    _, calls = turns(ReferenceAgent(), "Change them.", scenario=scenario)
    assert [calls[1].batch == calls[0].batch, calls[1].batch == calls[2].batch] == [False, True]


def test_the_reference_agent_has_nothing_to_add_to_its_solution() -> None:
    said, _ = turns(ReferenceAgent(), "Text her.", "And now?")
    assert said[1] == NOTHING_LEFT


def test_the_reference_agent_says_what_a_refused_call_left() -> None:
    solution = planned(([PlannedCall("set_cellular_service_status", {"on": True}, "tried")], "It said: ${tried.error}"))
    said, _ = turns(ReferenceAgent(), "Turn it on.", solution=solution)
    assert said[0].startswith("It said: PermissionError: ")


def test_a_solution_that_needs_what_a_refused_call_did_not_return_is_a_fault() -> None:
    refused = PlannedCall("search_contacts", {"phone_number": "none"}, "found")
    solution = planned(([refused, PlannedCall("search_contacts", {"name": "$found.0.name"})], "Done."))
    with pytest.raises(PlanError, match=r"needs 'found\.0\.name', but 'found' returned"):
        turns(ReferenceAgent(), "Look.", solution=solution)


def test_the_reference_agent_needs_a_solution() -> None:
    async def work() -> None:
        async with opened() as session, ReferenceAgent().converse(Brief("", session.target)):
            pass

    with pytest.raises(AgentError, match="no reference solution"):
        run(work)


def test_the_refusing_agent_refuses_and_touches_nothing() -> None:
    said, calls = turns(RefuseAgent(), "Text her.", "Please!")
    assert (said, calls) == ([REFUSAL, REFUSAL], [])


def test_the_refusing_agent_says_what_the_graders_floor_says() -> None:
    assert baselines.REFUSAL == REFUSAL


async def looks_up(asked: Asked) -> str:
    names = [tool.name for tool in await asked.tools.list()]
    found = await asked.tools.call("search_contacts", {"name": "Wren"})
    return f"{len(asked.said)} lines, {'search_contacts' in names}, {found.value[0]['phone_number']}"


def test_an_async_function_is_an_agent() -> None:
    said, _ = turns(FunctionAgent(looks_up, "mine"), "Number?", "Again?")
    assert said == ["1 lines, True, +17735550113", "3 lines, True, +17735550113"]


def test_what_a_function_raises_is_a_fault_of_the_agent() -> None:
    async def broken(asked: Asked) -> str:
        raise KeyError(asked.said[-1].text)

    with pytest.raises(AgentError, match=r"the agent raised KeyError: 'boom' \(test_agents\.py, line \d+\)"):
        turns(FunctionAgent(broken, "broken"), "boom")


def test_a_function_that_answers_with_something_else_is_a_fault_of_the_agent() -> None:
    async def silent(asked: Asked) -> Any:
        return None

    with pytest.raises(AgentError, match="answered with NoneType; expected text, or an AgentTurn"):
        turns(FunctionAgent(silent, "silent"), "Hello.")


def test_a_function_is_told_what_every_agent_is_told_and_may_add_what_the_log_keeps() -> None:
    async def told(asked: Asked) -> AgentTurn:
        return AgentTurn(asked.instructions, {"model": "none"})

    said, _ = turns(FunctionAgent(told, "told"), "Hello.")
    assert said[0].startswith("You are the assistant on somebody's phone")


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    write(
        tmp_path / "my_agents.py",
        "from sandbox_clients.reference import RefuseAgent\n"
        "async def polite(asked): return 'No, thank you.'\n"
        "instance = RefuseAgent(name='instance')\n"
        "def made(settings): return RefuseAgent(name=f'made for {settings.endpoint.model}')\n"
        "class Inner:\n    agent = instance\n"
        "def wrong(settings): return 5\n"
        "def chosen(settings): return polite\n"
        "class Polite:\n"
        "    def __init__(self, settings): self.model = settings.endpoint.model\n"
        "    async def __call__(self, asked): return f'No, says {self.model}.'\n"
        "number = 5\n",
    )
    write(tmp_path / "broken_agents.py", "import no_such_package\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("my_agents", None)


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize(
    ("name", "known_as"),
    [
        ("my_agents:polite", "my_agents:polite"),
        ("my_agents:instance", "instance"),
        ("my_agents:Inner.agent", "instance"),
        ("my_agents:made", "made for m"),
        ("my_agents:chosen", "my_agents:chosen"),
        ("my_agents:Polite", "my_agents:Polite"),
    ],
)
def test_an_agent_of_ones_own_is_found_by_module_and_attribute(name: str, known_as: str) -> None:
    assert agent_named(name, AgentSettings(EndpointSettings("m"))).name == known_as


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("referense", "unknown agent 'referense'; did you mean 'reference'"),
        ("broken", "unknown agent 'broken'; known: reference"),
        ("broken", "written module:attribute, such as 'broken:agent'"),
        ("openai", "name one with --model"),
        ("my_agents:nobody", "module 'my_agents' has no 'nobody'"),
        ("my_agents:", "expected MODULE:ATTRIBUTE"),
        ("no_such_module:x", "module 'no_such_module' cannot be imported"),
        ("broken_agents:x", "cannot be imported: No module named 'no_such_package'"),
        ("my_agents:wrong", "'my_agents:wrong' is not an agent"),
        ("my_agents:number", "is not an agent; expected an Agent"),
        (":x", "expected MODULE:ATTRIBUTE"),
        (
            "my_agents.py:polite",
            "'my_agents.py' is a file; go to its folder and name the module as an import would: my_agents:polite",
        ),
        ("./own/my_agents.py:polite", "as an import would: my_agents:polite"),
        ("localhost:8123", "a service is named by its address, such as http://localhost:8123"),
        ("ws://127.0.0.1:8123/agent", "such as http://127.0.0.1:8123/agent"),
        ("command:/no/such/program now", "there is no program '/no/such/program' that can be started"),
        ("command-text:no-such-program", "there is no program 'no-such-program' that can be started"),
    ],
)
def test_what_is_no_agent_is_told_in_one_line(name: str, says: str) -> None:
    with pytest.raises(UnknownAgentError) as caught:
        agent_named(name)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_only_agents_without_a_model_see_solutions() -> None:
    settings = AgentSettings(EndpointSettings("m", "http://127.0.0.1:8099/v1"))
    assert [name for name in AGENTS if agent_named(name, settings).wants_solution] == ["reference", "obey"]
