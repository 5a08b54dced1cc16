"""Texts of the lobby: its tools, its instructions and its start button.

Policy: a person types "run the scenario X" and knows no more, so these texts are all the manual that a host's model
has. Each says the step that comes next, and where to stop. None names a scenario.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from sandbox_scenarios import Scenario

from sandbox_mcp.engine.tools import Parameter, PresentedTool, Tool, World, never_run, present
from sandbox_mcp.play.server.lobby.names import PAGE
from sandbox_mcp.play.session.tool_channel import SEND, SEND_TOOL

INSTRUCTIONS = (
    "This server plays scenarios: tools to act with, and a simulated user who wants something done {place}. When the "
    "person in this chat asks you to run a scenario:\n"
    "1. Call start_scenario with the name they gave. If they gave none, find one with list_scenarios.\n"
    "2. Do what user_says asks for, with the other tools.\n"
    f"3. Speak to the simulated user with {SEND} and in no other way. Ask and report there, and go on until its "
    "result says conversation_over.\n"
    "4. Then call no more tools and tell the person in this chat that the scenario is over.\n"
    "While no scenario is running, the other tools do nothing."
)
_SIMULATED = "This user is simulated and cannot see this chat"
_PERSON = "This user is a person who answers in forms of this client and does not follow this chat"
_STOP = "conversation_over is true, stop calling tools"
_SHOW_AND_STOP = "conversation_over is true, call show_session and no other tool"
HOW_TO_PLAY = (
    f"{{instructions}} The scenario has begun, and user_says is what its user wants of you now. {_SIMULATED}: "
    f"call {SEND} for everything you want to ask or report, read the "
    "reply in its result, and go on until conversation_over is true. Do not ask the person in this chat for help or "
    "for anything that the user should know, and do not stop half-way to report to them. Do not look for the "
    "scenario's files or its log, and do not tell anybody how you think it works or what it checks. Once "
    f"{_STOP}, and tell the person in this chat in a sentence or two what you did "
    "and that the scenario is over. Start another one only when they ask for it."
)
NOT_RUNNING = (
    "NoScenarioError: no scenario is running; start one with start_scenario if the person in this chat has asked for it"
)


NOTHING_TO_SHOW = "NoScenarioError: no scenario has been played that could be shown"


def not_yet(name: str) -> str:
    """The answer to showing a scenario still in play."""
    return f"ScenarioRunningError: scenario {name!r} is running, and is shown once it is over; go on with it"


def over(name: str) -> str:
    """The answer to any call after a scenario has ended."""
    return (
        f"NoScenarioError: the scenario {name!r} is over and nothing more can be done in it; "
        "tell the person in this chat, and start another one only when they ask for it"
    )


def still_running(name: str) -> str:
    """The answer to starting a scenario while another one runs."""
    return (
        f"ScenarioRunningError: scenario {name!r} is running; go on with it until its user has left. If you were not "
        "playing it in this chat, or the person asks for another one, give it up with end_scenario first"
    )


def elsewhere(scenario: Scenario, home: World) -> str:
    """The answer to starting a scenario of another world."""
    played = f"scenario {scenario.name!r} is played in world {scenario.home.name!r}, not in {home.name!r}"
    return f"OtherWorldError: {played}; whoever runs this server can serve that world with --world {scenario.home.name}"


def button(name: str) -> str:
    """The words of a person who has pressed the start button; without a name where none was chosen."""
    if not name:
        return "Show me some of the scenarios that list_scenarios names, let me choose one, and run it."
    return (
        f'Run the scenario "{name}": call start_scenario with this name, follow the instructions it '
        "returns, and serve its user until the conversation is over."
    )


def _tool(
    name: str,
    description: str,
    result: Mapping[str, Any],
    *parameters: Parameter,
    action: bool = True,
    sometimes: Mapping[str, Any] | None = None,
) -> PresentedTool:
    schema = {"type": "object", "properties": {**result, **(sometimes or {})}, "required": list(result)}
    return present(Tool(name, "lobby", action, False, "agent", never_run, description, parameters, schema))


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
LIST = _tool(
    "list_scenarios",
    "Find scenarios by name. Not needed when you were told which one to run.\n"
    f"Returns scenarios, at most {PAGE} names, total, how many there are in all, next_page, the page to ask for to see "
    "more, or null, and running, the name of the scenario that is being played, or null. Where no name has the words "
    "searched for, closest has those most like them.\n"
    "Fails with ValueError: there is no such page.",
    {
        "scenarios": _TEXTS,
        "total": {"type": "integer"},
        "next_page": {"type": ["integer", "null"]},
        "running": {"type": ["string", "null"]},
    },
    Parameter("search", {"type": "string"}, False, "Words that the names must contain; all names if not given."),
    Parameter("page", {"type": "integer"}, False, "Which page of the names, from 1 on; 1 if not given."),
    action=False,
    sometimes={"closest": _TEXTS},
)
START = _tool(
    "start_scenario",
    "Begin a scenario. Call this when the person in this chat asks you to run, play or start one.\n"
    "Returns scenario, its name, instructions, which tell you how to go on, and user_says, the simulated user's first "
    f"message to you. Act on it with the other tools and answer it with {SEND}, not in this chat.\n"
    "Fails with UnknownScenarioError: there is no scenario of that name. The message has the closest names; ask the "
    "person which one they mean unless it is plain.\n"
    "Fails with ScenarioRunningError: another one is still running.",
    {"scenario": _TEXT, "instructions": _TEXT, "user_says": _TEXT},
    Parameter("name", {"type": "string"}, True, "Name of the scenario, as the person or list_scenarios gave it."),
    Parameter(
        "seed",
        {"type": "integer"},
        False,
        "Fixes the ids that the world hands out; 0 if not given. Leave it out unless told.",
    ),
)
END = _tool(
    "end_scenario",
    "Give up the running scenario before its user has left. Call this only when the person in this chat wants to stop "
    "or to run another one; a scenario whose user has left has ended by itself.\n"
    "Returns ended, the name of the scenario.\n"
    "Fails with NoScenarioError: none is running.",
    {"ended": _TEXT},
)
SHOW = _tool(
    "show_session",
    "Show the person in this chat the scenario that was played last, step by step, where this client shows pages. Call "
    "it once when a scenario is over and you were told to, or when the person asks; you are shown nothing of it.\n"
    "Returns shown, the name of the scenario.\n"
    "Fails with ScenarioRunningError: the scenario is still running.\n"
    "Fails with NoScenarioError: none has been played.",
    {"shown": _TEXT},
    action=False,
)
CONTROL: Mapping[str, PresentedTool] = {tool.name: tool for tool in (LIST, START, END)}


def how_to_play(instructions: str, *, person: bool, shows: bool = False) -> str:
    """Instructions for an agent whose scenario has begun.

    ``person`` tells that a person at the client plays the user, ``shows`` that the client shows pages.
    """
    told = HOW_TO_PLAY.replace("{instructions}", instructions)
    if shows:
        told = told.replace(_STOP, _SHOW_AND_STOP)
    return told.replace(_SIMULATED, _PERSON) if person else told


def how_to_begin(home: World) -> str:
    """Instructions for a host's model in a lobby that plays scenarios of this world."""
    return INSTRUCTIONS.replace("{place}", home.place)


@cache
def lobby_tools(home: World, *, shows: bool = False) -> tuple[PresentedTool, ...]:
    """Everything that the lobby of a world lists, always the same; ``shows`` where it has pages to show."""
    pages = (SHOW,) if shows else ()
    return (LIST, START, SEND_TOOL, END, *pages, *(present(tool) for tool in home.agent_tools.values()))
