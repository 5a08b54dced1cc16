"""A scenario as sessions and the grader use it: frozen, every name checked, every time and id resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.tools.injected import FaultRule
from sandbox_mcp.engine.world import Clock, Snapshot
from sandbox_mcp.engine.worlds import default
from sandbox_scenarios.happenings import Happening, WorldCondition

if TYPE_CHECKING:
    from sandbox_scenarios.cache import SuiteCache

Category = Literal[
    "single_tool_call", "multiple_tool_call", "single_user_turn", "multiple_user_turn",
    "state_dependency", "canonicalization", "insufficient_information",
]  # fmt: skip
"""ToolSandbox, section 3: what a scenario is about. A scenario may be in several."""

Measure = Literal["exact", "close", "contains", "one_of", "set", "rouge", "any", "facts"]
ValueConversion = Literal["raw", "float", "int", "text"]
Judging = Literal["share", "state"]
"""Strict score of a session: the share of the milestones that were met, or 1 for all of them and nothing else, or 0."""
START = "start"
"""As the name of a milestone: the moment before the user's first message."""


@dataclass(frozen=True, slots=True)
class ValueRef:
    """A value taken from the call matched at another milestone.

    ``path`` are keys and positions from the call's ``source`` down; ``to`` converts the value found there; ``decimals``
    lists how many decimals a number may be written with, each giving one acceptable text.
    """

    milestone: str
    source: Literal["result", "arguments"] = "result"
    path: tuple[str | int, ...] = ()
    to: ValueConversion = "raw"
    decimals: tuple[int, ...] = ()


FactType = Literal[
    "time", "date", "weekday", "duration", "count", "money", "temperature", "quantity", "percent", "phone", "number",
    "name", "text", "state", "deed", "undone", "cannot", "polarity", "direction",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a message must state, in any wording.

    ``value`` are the acceptable values, with placeholders that ``Expected.values`` fills: ``("14:40",)``, ``("up",)``,
    for a state ``("off",)``, for a deed its verb, for ``cannot`` the words that name what is missing. ``unit`` is a
    currency, a unit, the noun counted, or the thing whose state it is. ``about`` names what the fact is true of. Where
    that thing has several such values, ``attribute`` says which of them is meant, and ``excludes`` which is not.
    """

    type: FactType
    value: tuple[Any, ...]
    unit: str = ""
    about: tuple[str, ...] = ()
    attribute: str = ""
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected value, and how near is near enough.

    ``value`` is the target; with ``ref`` it comes from another milestone's call instead. ``measure`` compares, and
    ``within`` is the tolerance of ``close``. A column or argument may say how it is compared where these are not given:
    by ``usual``, with the tolerance ``usual_within``.

    For ``facts``, ``value`` is a tuple of facts, each a tuple of wordings of which one must occur. ``avoid`` lists
    wordings of which none may occur. ``values`` fills the placeholders in both. ``claims`` are the same facts with
    their types; it is empty where all are plain texts. ``denies`` are facts that must not be claimed.

    For texts that the agent writes, ``models`` are how the reference solutions put it, and ``synonyms`` are groups of
    words that may stand for each other.
    """

    measure: Measure | None = None
    value: Any = None
    within: float | None = None
    ref: ValueRef | None = None
    avoid: tuple[str, ...] = ()
    values: Mapping[str, ValueRef] = field(default_factory=dict[str, ValueRef])
    claims: tuple[Fact, ...] = ()
    denies: tuple[Fact, ...] = ()
    models: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, ...], ...] = ()
    usual: Measure | None = None
    usual_within: float | None = None


@dataclass(frozen=True, slots=True)
class TableConstraint:
    """On a table's state. ``since`` names the milestone (or the start) that the state is compared with."""

    table: str
    kind: Literal["is", "adds", "removes", "updates", "unchanged"]
    rows: tuple[Mapping[str, Expected], ...] = ()
    since: str = START


@dataclass(frozen=True, slots=True)
class CallPattern:
    """One acceptable call; arguments not listed may be anything, a listed null also accepts an absent argument."""

    tool: str
    arguments: Mapping[str, Expected]


@dataclass(frozen=True, slots=True)
class CallConstraint:
    """On a call of the agent: one of the patterns. Only calls that succeeded count, unless ``attempt``."""

    patterns: tuple[CallPattern, ...]
    attempt: bool = False


@dataclass(frozen=True, slots=True)
class MessageConstraint:
    """On a message between two roles."""

    content: Expected
    sender: Literal["user", "agent", "environment"] = "agent"
    recipient: Literal["user", "agent", "environment"] = "user"


Constraint = TableConstraint | CallConstraint | MessageConstraint


@dataclass(frozen=True, slots=True)
class Milestone:
    """An event that should (or, as a minefield, must not) happen, after those named in ``after``.

    With ``transient`` the state it describes need not hold at the end of the session: a later turn changes it again, or
    it is only a means, such as a switch that the wish does not name.
    """

    id: str
    constraints: tuple[Constraint, ...]
    after: tuple[str, ...] = ()
    transient: bool = False
    about: str = ""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of a reference solution. ``label`` names its result for ``$label.path`` in later arguments.

    ``as_text`` says that the tool takes actions as free text; a world may have a tool of the same name.
    """

    tool: str
    arguments: Mapping[str, Any]
    label: str | None = None
    as_text: bool = False


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """Turn of a reference solution between two user messages: batches of calls in order, then its reply.

    The calls of one batch are sent together; a call outside any batch is a batch of one.
    """

    batches: tuple[tuple[PlannedCall, ...], ...]
    reply: str

    @property
    def calls(self) -> tuple[PlannedCall, ...]:
        """All calls of the turn in order."""
        return tuple(call for batch in self.batches for call in batch)


@dataclass(frozen=True, slots=True)
class Solution:
    """One complete way to solve the scenario, one turn per user message.

    In a ``concrete`` one every value is what it says, even where it looks like a reference to an earlier result.
    """

    turns: tuple[PlannedTurn, ...]
    about: str = ""
    concrete: bool = False


@dataclass(frozen=True, slots=True)
class PlannedAct:
    """Something that the user does in its world, by the name of the act; ``place`` stands for what came of it."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    place: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of the scripted user when the agent asks about one of ``about`` (words or phrases)."""

    about: tuple[str, ...]
    say: str


@dataclass(frozen=True, slots=True)
class Script:
    """The scripted user: answers to questions, follow-ups once the agent has delivered, and its limits.

    ``patience`` is how many questions in a row may go unanswered before the user gives up. Unless it ``approves``, the
    user declines what must be confirmed. ``does`` is what it does before it says one of these lines,
    ``when`` what has to be so in the world for it to say one.
    """

    answers: tuple[Answer, ...] = ()
    then: tuple[str, ...] = ()
    confirm: str = "Yes, please."
    unknown: str = "I don't know that."
    approves: bool = True
    decline: str = "No, please leave it."
    patience: int = 3
    does: Mapping[str, PlannedAct] = field(default_factory=dict[str, PlannedAct])
    when: Mapping[str, WorldCondition] = field(default_factory=dict[str, WorldCondition])

    def __hash__(self) -> int:
        return hash((self.answers, self.then, self.confirm, self.patience))


@dataclass(frozen=True, slots=True)
class Exchange:
    """One pair of lines in a demonstration."""

    user: str
    agent: str


Persona = Literal["vague", "pushes", "talkative", "mistaken", "changes_mind"]
"""A manner in which a user says what it wants; :mod:`sandbox_scenarios.personas` tells each."""
PERSONAS: tuple[Persona, ...] = get_args(Persona)


@dataclass(frozen=True, slots=True)
class Slip:
    """Words that a mistaken user ``says`` where it ``means`` others, until it notices."""

    says: str
    means: str


@dataclass(frozen=True, slots=True)
class UserSpec:
    """Everything about the simulated user. None of it is ever visible to the agent but what the user says.

    ``wants_not`` are sentences on what it refuses whenever proposed, done for it, or in need of its leave.
    ``prompt`` is what a model that plays the user is told instead of all this, where the scenario comes from elsewhere.
    ``personas`` are its manners, ``slips`` what it says wrongly as a mistaken user, ``changes`` what it comes to want
    instead as one that changes its mind. ``wish`` is all it wants where its opening does not say that.
    """

    goal: str
    opening: str
    knows: tuple[str, ...] = ()
    does_not_know: tuple[str, ...] = ()
    wants_not: tuple[str, ...] = ()
    demonstration: tuple[Exchange, ...] = ()
    script: Script = Script()
    prompt: str = ""
    personas: tuple[Persona, ...] = ()
    slips: tuple[Slip, ...] = ()
    changes: tuple[str, ...] = ()
    wish: str = ""

    @property
    def knows_date(self) -> bool:
        """True if it knows today's date, as people do, unless it is said that it does not."""
        unknown = " ".join(self.does_not_know).lower()
        return not any(words in unknown for words in ("date", "today", "what day"))


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario, resolved.

    ``allows`` lists the tables and columns whose changes do not matter. The tools in ``confirm`` run only once the
    user has confirmed the call. While a gate in ``gates`` is closed, only the tool that opens it works. ``home`` is
    the world that declares the tables and tools, and ``where`` names the place of the scenario for worlds that tell
    it. Where that is a tape, ``fill`` is the model that may answer calls that are not on it. ``tags`` name the
    studies that the scenario is part of. ``offered`` is for scenarios that say themselves which tools a variant
    presents: it maps the variant to presented names, and each of these to its tool. ``original`` are milestones and
    minefields in ToolSandbox's own form, by which ``compat`` judges instead of ours. Code made a ``generated`` one.
    ``events`` happen by themselves. Where several ``end_states`` are right, these are the milestones of each, the first
    of them those in ``milestones``. ``judge`` says whether a part of them earns a part of the score.
    ``cache`` keeps the scenario, and may keep results worked out from it alone; a copy that ``replace`` changed has
    none.
    """

    name: str
    about: str
    categories: tuple[Category, ...]
    world: Snapshot
    clock: Clock
    tools: tuple[str, ...]
    without: tuple[str, ...]
    user: UserSpec
    solutions: tuple[Solution, ...]
    milestones: tuple[Milestone, ...]
    minefields: tuple[Milestone, ...]
    allows: Mapping[str, tuple[str, ...]]
    confirm: tuple[str, ...]
    gates: tuple[str, ...]
    max_turns: int
    max_calls: int
    idle_score: str | None
    digest: str
    path: str = ""
    line: int = 0
    home: World = field(default_factory=default)
    where: str = ""
    fill: str = ""
    tags: tuple[str, ...] = ()
    offered: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    original: Mapping[str, Any] | None = None
    generated: bool = False
    faults: tuple[FaultRule, ...] = ()
    events: tuple[Happening, ...] = ()
    end_states: tuple[tuple[Milestone, ...], ...] = ()
    judge: Judging = "share"
    cache: "SuiteCache | None" = field(default=None, init=False, repr=False, compare=False)

    @property
    def situation(self) -> str:
        """What the agent is told of the moment at which a session begins, in worlds that tell it."""
        return self.home.situation(self.world, self.clock, self.where)

    def __hash__(self) -> int:
        return hash(self.digest)
