"""The form of a scenario file, as an author writes it. Validated here; meaning is given in ``sandbox_scenarios.build``.

Policy: unknown keys are errors, because a misspelt ``milestone`` that is silently ignored makes every agent look good.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sandbox_mcp.engine.tools.injected import FaultName
from sandbox_scenarios.model import Category, Judging, Persona


class Strict(BaseModel):
    """Base of all parts of a scenario file: unknown keys are refused.

    What checks a part is made when it is first used, because each part would make its own of all that it is made of.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Tag = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*:[a-z0-9_]+$")]
"""A study and a part of it, such as ``irrelevance:request``."""
_Cells = dict[str, Any]
"""Column to value; see ``docs/scenarios.md`` for how a value names its measure."""


class RawClock(Strict):
    """Virtual time: ``now`` as local wall time of ``zone``, ``step`` in seconds per event."""

    now: Any = None
    zone: str | None = None
    step: float | None = Field(default=None, ge=0)


class RawCondition(Strict):
    """A condition on a table: it ``has`` at least ``least`` rows with these cells, or ``lacks`` them."""

    table: str
    has: dict[str, Any] | None = None
    lacks: dict[str, Any] | None = None
    least: int = Field(default=1, ge=1)


class RawAct(Strict):
    """Something that the user does, of what its world lets users do."""

    act: str
    arguments: dict[str, Any] = {}


class RawLine(Strict):
    """Line of the user, the act before it, and when it is said.

    ``{name}`` is what came of the act, and all that it says by default.
    """

    say: str = ""
    does: str | RawAct | None = None
    when: RawCondition | None = None


class RawAnswer(RawLine):
    """Answer of the user, or act and answer, when asked about one of these words or phrases."""

    about: list[str] = Field(min_length=1)


class RawScript(Strict):
    """The scripted user's behaviour."""

    answers: list[RawAnswer] = []
    then: list[str | RawLine] = []
    confirm: str | None = None
    unknown: str | None = None
    approves: bool = True
    decline: str | None = None
    patience: int | None = Field(default=None, ge=1)


class RawExchange(Strict):
    """One pair of lines in a demonstration."""

    user: str
    agent: str


class RawSlip(Strict):
    """Words that a mistaken user says where it means others."""

    says: str = Field(min_length=1)
    means: str = Field(min_length=1)


class RawUser(Strict):
    """The simulated user."""

    goal: str | None = None
    opening: str | None = None
    knows: list[str] = []
    does_not_know: list[str] = []
    wants_not: list[str] = []
    demonstration: list[RawExchange] = []
    script: RawScript = RawScript()
    prompt: str | None = None
    persona: Persona | list[Persona] = []
    slips: list[RawSlip] = []
    changes: list[str] = []


class RawCall(Strict):
    """One call of a reference solution; ``as`` names its result."""

    tool: str
    arguments: dict[str, Any] = {}
    label: str | None = Field(default=None, alias="as")


class RawTurn(Strict):
    """One turn of a reference solution. An item of ``calls`` is a call, or a list of calls that are sent together."""

    calls: list[RawCall | Annotated[list[RawCall], Field(min_length=1)]] = []
    reply: str


class RawSolution(Strict):
    """One reference solution."""

    about: str = ""
    turns: list[RawTurn] = Field(min_length=1)


class RawPattern(Strict):
    """One acceptable call."""

    tool: str
    arguments: _Cells = {}


class RawMessage(Strict):
    """A message constraint."""

    sender: Literal["user", "agent", "environment"] = "agent"
    recipient: Literal["user", "agent", "environment"] = "user"
    content: Any


class RawConstraint(Strict):
    """One constraint: on a table, on a call, or on a message."""

    table: str | None = None
    matches: _Cells | list[_Cells] | None = Field(default=None, alias="is")
    adds: _Cells | list[_Cells] | None = None
    removes: _Cells | list[_Cells] | None = None
    updates: _Cells | list[_Cells] | None = None
    unchanged: Literal[True] | None = None
    since: str | None = None
    tool: str | None = None
    arguments: _Cells | None = None
    any_of: list[RawPattern] | None = Field(default=None, min_length=1)
    attempt: bool = False
    message: RawMessage | None = None


class RawMilestone(RawConstraint):
    """A milestone or minefield: one constraint written flat, or several under ``all``."""

    id: Name
    about: str = ""
    after: list[str] = []
    transient: bool | None = None
    all_of: list[RawConstraint] | None = Field(default=None, alias="all", min_length=1)


class RawEndState(Strict):
    """One of several states that are right at the end: milestones beside those of the scenario."""

    about: str = ""
    milestones: list[RawMilestone] = Field(min_length=1)


class RawEvent(Strict):
    """Something that happens once, at a moment, or when a condition holds, or seconds after that."""

    id: Name
    when: RawCondition | None = None
    at: Any = None
    after: float = Field(default=0.0, ge=0)
    adds: dict[str, dict[str, Any]] = {}
    updates: dict[str, dict[str, Any]] = {}
    notice: str | None = None


class RawFault(Strict):
    """A fault that strikes one call of a tool once: the n-th, or with ``call: [1, 3]`` one of these by the seed."""

    tool: str
    kind: FaultName
    call: Annotated[int, Field(ge=1)] | list[Annotated[int, Field(ge=1)]] = 1


class RawGenerator(Strict):
    """A Python function that makes the scenario, as ``file.py:function`` or ``module:function``, and its sizes."""

    by: str
    size: dict[str, Any] = {}


class RawScenario(Strict):
    """One scenario, or with ``abstract`` a base that others branch from."""

    name: Name
    extends: str | None = None
    abstract: bool = False
    about: str | None = None
    categories: list[Category] | None = None
    tags: list[Tag] = []
    world: str | dict[str, Any] | list[str | dict[str, Any]] = {}
    state: dict[str, Any] = {}
    clock: RawClock = RawClock()
    where: str | None = None
    tools: list[str] | None = None
    without: list[str] | None = None
    offered: dict[str, dict[str, str]] = {}
    user: RawUser = RawUser()
    reference: list[RawSolution] | None = None
    milestones: list[RawMilestone] | None = None
    minefields: list[RawMilestone] | None = None
    allows: dict[str, list[str]] | None = None
    confirm: list[str] | None = None
    gates: list[str] | None = None
    sign_in: bool = False
    max_turns: int | None = Field(default=None, ge=1)
    max_calls: int | None = Field(default=None, ge=1)
    idle_score: str | None = None
    original: dict[str, Any] | None = None
    draws: dict[str, Any] = {}
    choose: list[dict[str, Any]] = []
    generate: RawGenerator | None = None
    faults: list[RawFault] = []
    events: list[RawEvent] = []
    end_states: list[RawEndState] = []
    judge: Judging = "share"


class RawFile(Strict):
    """One scenario file: a family of related scenarios.

    ``canary`` is a text by which the file is found again where it should not be, such as in training data. It is no
    part of any scenario, so that no digest changes with it.
    """

    family: str
    canary: str | None = Field(default=None, min_length=1)
    scenarios: list[RawScenario] = Field(min_length=1)
