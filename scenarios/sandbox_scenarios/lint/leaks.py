"""Whether the user gives away what the agent should find out, and whether every kind of user can tell the rest.

Policy: what stands under ``knows`` the user may say; anything else that only the world knows it may not. Numbers count
however they are written. A model that plays the user is told the brief and the opening, but not the script:
its goal may slip out, and a name or number that stands in the script alone it cannot tell.

In the brief a sentence begins with anything but a lower-case letter and has an end. In a list in brackets YAML cuts an
unquoted sentence at every comma, and the rest of it can say something else ("Your rent went up by 48"). Whoever
agrees to everything walks into every minefield, so where there is one the user has to know what it does not want.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.world import to_local
from sandbox_scenarios.lint.complaint import LintFinding
from sandbox_scenarios.lint.texts import (
    ScenarioText,
    contains,
    has_number,
    is_number,
    known,
    people,
    sentence_lists,
    spoken,
    texts,
    unsaid_cells,
)
from sandbox_scenarios.model import CallConstraint, MessageConstraint, Milestone, Scenario

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NAME = re.compile(r"(?<!\w)\w+_\w+")
_CONDITION = re.compile(r"\b(?:if|whether)\b[^,.;]*", re.IGNORECASE)
"""A part of a goal that tells what is open, not what is so."""
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+")
_ACTED = re.compile(r"\{[^{}]*\}")
"""In a line of the user, what comes of an act of theirs."""
_DATE_WORDS = ("date", "today", "what day", "which day")
_ENDS = (".", "!", "?", "\u2026")
_CLOSING = "\"'\u201d\u2019)"
"""What may stand behind the end of a sentence."""
_REFUSING = ("no", "not", "only", "don't", "leave")
"""How a script begins that answers a request for leave with a refusal."""
LONG = 4
"""A wording of fewer letters says too little to be the answer to a question."""


def leaks(scenario: Scenario) -> Iterator[LintFinding]:
    """Rules ``tool_name``, ``argument_name``, ``id``, ``secret``, ``unbriefed`` and ``answer_given``."""
    tools, arguments = _technical(scenario.home)
    for text in texts(scenario):
        for name in dict.fromkeys(_NAME.findall(text.text)):
            if name in tools:
                problem = f"{_shown(text)} names the tool {name}"
                yield LintFinding("tool_name", text.path, problem, "say what is wanted instead")
            elif name in arguments and text.spoken:
                problem = f"{_shown(text)} names the argument {name}"
                yield LintFinding("argument_name", text.path, problem, "say it as a person would")
        if _UUID.search(text.text) and not _UUID.search(known(scenario)):
            yield LintFinding("id", text.path, f"{_shown(text)} contains an id", "people do not know ids; leave it out")
    numbers = [(what, cell) for what, cell in unsaid_cells(scenario) if is_number(cell)]
    words = list(_only_looked_up(scenario))
    for text in texts(scenario):
        if text.spoken or "demonstration" in text.path:  # what an example says a user takes for known, whoever says it
            secrets = tuple(_secrets(known(scenario), text, numbers, words))
            yield from secrets or _unbriefed(scenario, text)
    yield from _answers(scenario)


@cache
def _technical(home: World) -> tuple[frozenset[str], frozenset[str]]:
    """The names of tools and of arguments that no person would say."""
    tools = home.agent_tools
    arguments = {item.name for tool in tools.values() for item in tool.parameters}
    return frozenset(name for name in tools if "_" in name), frozenset(name for name in arguments if "_" in name)


def _secrets(
    knows: str, text: ScenarioText, numbers: Iterable[tuple[str, str]], words: Iterable[tuple[str, str]]
) -> Iterator[LintFinding]:
    mend = "leave it out, or say under 'knows' that the user knows it"
    for what, number in numbers:
        if has_number(text.text, number) and not has_number(knows, number):
            yield LintFinding("secret", text.path, f"{_shown(text)} tells {what}", mend)
    for what, form in words:
        if contains(text.text, form) and not contains(knows, form):
            yield LintFinding("secret", text.path, f"{_shown(text)} tells {what} ({form!r})", mend)


def _unbriefed(scenario: Scenario, text: ScenarioText) -> Iterator[LintFinding]:
    user = scenario.user
    if user.prompt or not {"answers", "then"}.intersection(text.path):
        return
    brief = "\n".join((user.goal, user.opening, *user.knows, *user.wants_not))
    names = people(scenario)
    digits = "".join(_NUMBER.findall(brief))
    told = _ACTED.sub(" ", text.text)
    facts = [word for word in _WORD.findall(told) if word in names and not contains(brief, word)]
    facts += [number for number in _NUMBER.findall(told) if len(number) > 1 and number not in digits]
    if facts:
        problem = f"{_shown(text)} tells {', '.join(map(repr, facts))}, which the brief does not know"
        mend = "write it under 'knows', so that every kind of user knows it"
        yield LintFinding("unbriefed", text.path, problem, mend)


def _only_looked_up(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Facts that only a look tells, in the words in which they would be told."""
    for what, cell in unsaid_cells(scenario):
        if isinstance(cell, float):
            yield what, f"{cell:.3f}"
            yield what, str(cell)
        elif isinstance(cell, str) and not is_number(cell):
            yield what, cell
    if any(word in line.casefold() for line in scenario.user.does_not_know for word in _DATE_WORDS):
        day = to_local(scenario.clock.now, scenario.clock.zone)
        for form in ("%d %B", "%B %d", "%Y-%m-%d"):
            yield "today's date, which it does not know", day.strftime(form).lstrip("0").replace(" 0", " ")


def _answers(scenario: Scenario) -> Iterator[LintFinding]:
    lines = (text.text for text in spoken(scenario) if "then" not in text.path)  # that comes after the answer
    said = "\n".join((_CONDITION.sub(" ", scenario.user.goal), *lines))
    by_id = {milestone.id: milestone for milestone in scenario.milestones}
    for number, milestone in enumerate(scenario.milestones):
        messages = [item for item in milestone.constraints if isinstance(item, MessageConstraint)]
        facts: list[tuple[str, ...]] = []
        for content in (item.content for item in messages if item.sender == "agent"):
            plain = [(str(content.value),)] if content.ref is None else []
            facts += content.value if content.measure == "facts" else plain
        given = all(
            any(len(word) >= LONG and "{" not in word and contains(said, word) for word in fact) for fact in facts
        )
        if facts and given and _asks_only(scenario, milestone, by_id):
            text = f"milestone {milestone.id!r} asks for an answer that the user has already said or been told"
            mend = "ask for something that only a look can tell, or leave it out of what the user says"
            yield LintFinding("answer_given", ("milestones", number), text, mend)


def _asks_only(scenario: Scenario, milestone: Milestone, by_id: Mapping[str, Milestone]) -> bool:
    """True if a reply rests on nothing but looks, so that it answers a question and reports no deed."""
    constraints = [item for name in milestone.after for item in by_id[name].constraints]
    calls = [item for item in constraints if isinstance(item, CallConstraint)]
    tools = scenario.home.agent_tools
    looks = all(not tools[pattern.tool].action for item in calls for pattern in item.patterns)
    return bool(calls) and len(calls) == len(constraints) and looks


def _shown(text: ScenarioText) -> str:
    where = next(part for part in reversed(text.path) if isinstance(part, str))
    line = " ".join(text.text.split())
    return f"{where} {line if len(line) <= 60 else line[:57] + '...'!r}"


def brief(scenario: Scenario) -> Iterator[LintFinding]:
    """Rules ``torn_sentence`` and ``unsaid_refusal``."""
    for item in sentence_lists(scenario):
        text = item.text.strip()
        fault = ""
        if text[:1].islower():
            fault = "starts in lower case"
        elif not text.rstrip(_CLOSING).endswith(_ENDS):
            fault = "has no end"
        if fault:
            problem = f"{item.path[-2]} {item.text!r} {fault}"
            mend = "write a whole sentence, in quotes where it has a comma and the list is in brackets"
            yield LintFinding("torn_sentence", item.path, problem, mend)
    script = scenario.user.script
    first = script.confirm.casefold().replace(",", " ").partition(" ")[0]
    if not scenario.user.wants_not:
        mend = "say under 'wants_not' what the user refuses, so that every kind of user does"
        if scenario.minefields:
            text = f"nothing keeps the user from agreeing to minefield {scenario.minefields[0].id!r}"
            yield LintFinding("unsaid_refusal", ("minefields", 0), text, mend)
        elif not script.approves or first in _REFUSING:
            text = "the script refuses, and the brief does not say what"
            yield LintFinding("unsaid_refusal", ("user", "script"), text, mend)
