"""Trials of a server's tools: what they take, what they answer, and what they change.

Policy: each trial has a server on which nothing was done, so that nothing is left of the one before. A tool counts as
usable once it has answered without an error; of one that acts, arguments that change what is seen come before those
that do not. Whatever is kept was played in two starts, and what differed between both plays is asked of nobody.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from sandbox_grader.importers.reading.manners import failure_in
from sandbox_scenarios.filling import opened

from sandbox_mcp.app.authoring.server_drafts.starts import TrialStart, TrialStarts
from sandbox_mcp.app.authoring.server_drafts.values import Answered, AnswerPlace, DraftValue, Pool, words_of
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools.user_tools import ENGINE_TOOLS
from sandbox_mcp.engine.world.schema import ColumnType
from sandbox_mcp.engine.world.state import Row
from sandbox_mcp.engine.worlds.recorded import TapeTool
from sandbox_mcp.engine.worlds.recorded.guessing import named_to_act, named_to_look
from sandbox_mcp.engine.worlds.recorded.live import LiveServer, small_name
from sandbox_mcp.engine.worlds.recorded.observed import Mask, Observation, answered, columns_in, differing
from sandbox_mcp.engine.worlds.recorded.tape import canonical_text
from sandbox_mcp.engine.worlds.recorded.world import UNPLAYABLE, text_of, value_of
from sandbox_mcp.play.session.running_server import RunningServer, ServerLostError

_ERROR = re.compile(r"\s{0,9}[A-Z]\w{0,40} error: ")
MOST_OBSERVERS = 6
"""How many tools show the state at most: each is asked twice for every call that acts."""
_SHAPES = (
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?",
    r"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}",
    r"\d\d:\d\d:\d\d(?:\.\d+)?",
    r"\b[0-9a-f]{7,64}\b",
    r"\b\d{9,}(?:\.\d+)?\b",
)
"""Forms of what differs from session to session inside a text: ids, moments, hashes, counters of time."""


@dataclass(frozen=True, slots=True)
class DraftStep:
    """One call of a draft, with where its values come from."""

    tool: TapeTool
    acts: bool
    arguments: Mapping[str, DraftValue]

    @property
    def plain(self) -> dict[str, Any]:
        """The arguments as they were when the step was found."""
        return {name: item.value for name, item in self.arguments.items()}


@dataclass(frozen=True, slots=True)
class SeenChange:
    """An observed row, before and after a call."""

    table: str
    key: str
    before: Row | None
    after: Row | None


def failed(result: Mapping[str, Any]) -> bool:
    """True for an error, and for a text that begins as one: many servers tell their errors without ``isError``."""
    text = text_of(result)
    told = failure_in(text, answered(result)) is not None or _ERROR.match(text) is not None
    return result.get("isError") is True or told


@dataclass(frozen=True, slots=True)
class StepPlayed:
    """Outcome of one step: its result, and what it changed."""

    arguments: Mapping[str, Any]
    result: Mapping[str, Any]
    changes: tuple[SeenChange, ...]

    @property
    def refused(self) -> bool:
        """True if the server answered with an error, or with a text that tells of one."""
        return failed(self.result)

    @property
    def value(self) -> Any:
        """Value of the result, as a solution refers to it."""
        return value_of(self.result)


@dataclass(frozen=True, slots=True)
class Usable:
    """Steps that a server carries out, in two plays."""

    steps: tuple[DraftStep, ...]
    once: tuple[StepPlayed, ...]
    again: tuple[StepPlayed, ...]


@dataclass(slots=True)
class Survey:
    """Everything that was found out about a server."""

    server: LiveServer
    pool: Pool
    starts: TrialStarts
    tools: list[TapeTool] = field(default_factory=list[TapeTool])
    looking: frozenset[str] = frozenset()
    observers: list[Observation] = field(default_factory=list[Observation])
    mask: tuple[str, ...] = ()
    usable: list[Usable] = field(default_factory=list[Usable])
    left_out: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def config(self) -> dict[str, Any]:
        """The world as a scenario names it."""
        said: dict[str, Any] = {name: value for name, value in self.server.given.items() if name != "mask"}
        found = {"observe": [_as_written(item) for item in self.observers], "reads": sorted(self.looking)}
        return {**said, **{name: listed for name, listed in {**found, "mask": list(self.mask)}.items() if listed}}


def _as_written(item: Observation) -> Any:
    columns = {"columns": dict(item.columns)} if item.named else {}
    if not item.arguments and not columns and item.table == item.tool:
        return item.tool
    return {
        "tool": item.tool,
        **({"arguments": dict(item.arguments)} if item.arguments else {}),
        "as": item.table,
        **columns,
    }


def survey(
    starts: TrialStarts, pool: Pool, skipped: frozenset[str], suggest: "Suggest | None", tell: Callable[[str], None]
) -> Survey:
    """Find out what a server's tools take and change.

    Raises:
        SandboxError: it cannot be started, or lists no tool.
    """
    server = starts.server
    found = Survey(server, pool, starts)
    with starts.fresh() as first:
        running = first.running
        taken = {tool.name for tool in ENGINE_TOOLS} | UNPLAYABLE | skipped
        listed = [TapeTool(str(tool["name"]), tool) for tool in running.tools()]
        found.tools = [tool for tool in listed if tool.name not in taken]
        found.left_out = {tool.name: "it is to be skipped" for tool in listed if tool.name in taken}
        if not found.tools:
            raise SandboxError("the server lists no tool that can be played")
        named = {tool.name for tool in listed if not tool.acts or (not tool.said and looks_by_its_words(tool))}
        found.looking = frozenset(named | server.reads)
        found.looking |= _silent_looks(found, running)
        looks = _looked(found, running)
        unsteady = _unsteady(running, looks)
    with starts.fresh(first) as second:
        unsteady |= _unsteady(second.running, looks)
    found.mask = (*_listed(server.given.get("mask")), *sorted(unsteady - set(_listed(server.given.get("mask")))))
    acting = [tool for tool in found.tools if tool.name not in found.looking]
    tell(f"{len(found.tools)} tools; these act, and are called: {', '.join(tool.name for tool in acting) or 'none'}")
    found.observers = _observers(found, looks)
    for number, tool in enumerate(found.tools, 1):
        sets = suggest(tool, found) if suggest else ()
        _try(found, tool, sets)
        tell(f"tried {number} of {len(found.tools)}: {tool.name}")
    _try_after(found, [tool for tool in acting if tool.name in found.left_out], tell)
    shown = {change.table for item in found.usable for played in item.once for change in played.changes}
    found.observers = [item for item in found.observers if item.table in shown or not item.arguments]
    return found


Suggest = Callable[[TapeTool, Survey], Sequence[Mapping[str, DraftValue]]]
"""Sets of arguments for a tool that a model proposes."""


def play(
    found: Survey, steps: Sequence[DraftStep], times: int = 2, last: TrialStart | None = None
) -> list[tuple[StepPlayed, ...]]:
    """Carry steps out, each time on a fresh server in another process than ``last``; ends where one is refused."""
    plays: list[tuple[StepPlayed, ...]] = []
    while len(plays) < times:
        with found.starts.fresh(last) as last:
            table = _Bench(found, last)
            done = table.make_all(steps)
        if done is None:
            break
        plays.append(done)
    return plays


class _Bench:
    """One started server, its state, and what its calls have given."""

    def __init__(self, found: Survey, start: TrialStart) -> None:
        self._found = found
        self._start = start
        self._running = start.running
        self._mask = Mask.reading(found.mask)
        self.given: dict[str, Any] = {}
        self.seen = self._sight()

    def _sight(self) -> dict[tuple[str, str], Row]:
        rows: dict[tuple[str, str], Row] = {}
        for item in self._found.observers:
            for key, row in item.rows(self._running.state(item), self._mask).items():
                rows[item.table, key] = row
        return rows

    def make_all(self, steps: Sequence[DraftStep]) -> tuple[StepPlayed, ...] | None:
        """Make some calls; None where one is refused, or a value cannot be looked up."""
        done: list[StepPlayed] = []
        for step in steps:
            played = self.make(step)
            if played is None or played.refused:
                return None
            done.append(played)
        return tuple(done)

    def make(self, step: DraftStep) -> StepPlayed | None:
        """Make one call; None where a value cannot be looked up."""
        arguments: dict[str, Any] = {}
        for name, item in step.arguments.items():
            value = item.value if item.source is None else self._looked_up(item.source)
            if value is None and item.source is not None:
                return None
            arguments[name] = value
        result = self._running.call(step.tool.name, arguments, ())
        self.given[_key(step.tool.name, step.plain)] = value_of(result)
        changes: list[SeenChange] = []
        if step.acts:
            now, before = self._sight(), self.seen
            for table, key in dict.fromkeys((*before, *now)):
                one, other = before.get((table, key)), now.get((table, key))
                if one != other:
                    changes.append(SeenChange(table, key, one, other))
            self.seen = now
            unseen = not self._found.observers
            self._start.spent = self._start.spent or bool(changes) or unseen or not failed(result)
        return StepPlayed(arguments, result, tuple(changes))

    def _looked_up(self, source: AnswerPlace) -> Any:
        key = _key(source.tool, source.arguments)
        if key not in self.given:
            self.given[key] = value_of(self._running.call(source.tool, source.arguments, ()))
        value: Any = self.given[key]
        for part in source.path:
            try:
                value = opened(value)[part]
            except (LookupError, TypeError):
                return None
        return value


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    return f"{tool} {canonical_text(arguments)}"


def _listed(value: Any) -> list[str]:
    return [str(item) for item in cast("list[Any]", value if isinstance(value, list) else [value])] if value else []


def looks_by_its_words(tool: TapeTool) -> bool:
    """True if the name says that it looks; or the description's verb does, and nothing in the name says it acts."""
    if named_to_look(tool.name):
        return True
    first = next(iter(re.findall(r"[a-z]+", str(tool.listed.get("description") or "").lower())), "")
    named = words_of(tool.name)
    telling = {"return", "returns", "calculate", "calculates", "compute", "computes", "count", "counts", "get", "gets"}
    return first in telling and first.removesuffix("s") not in named and not named_to_act(tool.name)


def _silent_looks(found: Survey, running: RunningServer) -> frozenset[str]:
    """Tools without arguments that give the same data twice, where neither server nor name says that they act."""
    looks = set[str]()
    for tool in found.tools:
        schema: Any = tool.listed.get("inputSchema") or {}
        if tool.name in found.looking or tool.said or schema.get("properties") or named_to_act(tool.name):
            continue
        answers = [_called(running, tool.name, {}) for _ in range(2)]
        data = [answered(result) for result in answers if result is not None and result.get("isError") is not True]
        if (
            len(data) == 2
            and isinstance(data[0], Mapping | list)
            and canonical_text(data[0]) == canonical_text(data[1])
        ):
            looks.add(tool.name)
    return frozenset(looks)


def _looked(found: Survey, running: RunningServer) -> list[tuple[Answered, bool]]:
    """Answers of the tools that look, the plainest first; true for those whose arguments come from no answer."""
    looks: list[tuple[Answered, bool]] = []
    asked = set[str]()
    tools = sorted((tool for tool in found.tools if tool.name in found.looking), key=_needs)
    for tool in (*tools, *tools):  # what one shows, another one before it may need
        if tool.name in asked:
            continue
        plain = replace(found.pool, answers=[])
        for arguments in found.pool.sets(tool):
            given = {name: item.value for name, item in arguments.items()}
            result = _called(running, tool.name, given)
            if result is not None and not failed(result):
                asked.add(tool.name)
                fixed = any(given == {name: item.value for name, item in one.items()} for one in plain.sets(tool))
                looks.append((Answered(tool.name, given, value_of(result)), fixed))
                found.pool.answers.append(looks[-1][0])
                break
    return looks


def _called(running: RunningServer, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
    try:
        return running.call(tool, arguments, ())
    except ServerLostError:
        return None


def _needs(tool: TapeTool) -> int:
    schema: Any = tool.listed.get("inputSchema") or {}
    required: Any = schema.get("required")
    return len(cast("list[Any]", required)) if isinstance(required, list) else 0


def _unsteady(running: RunningServer, looks: Sequence[tuple[Answered, bool]]) -> set[str]:
    """Fields, and forms of words in texts, that differ though nothing was done."""
    names = set[str]()
    for item, _ in looks:
        result = _called(running, item.tool, item.arguments)
        if result is None or result.get("isError") is True:
            continue
        one, other = _read(item.value), answered(result)
        if canonical_text(one) == canonical_text(other):
            continue
        names.update(differing(one, other))
        for text, instead in _texts(one, other):
            names.update(f"/{shape}/" for shape in _SHAPES if _explains(shape, text, instead))
    return names


def _read(value: Any) -> Any:
    return answered({"structuredContent": value} if isinstance(value, Mapping) else {"content": [{"text": value}]})


def _texts(one: Any, other: Any) -> Iterator[tuple[str, str]]:
    if isinstance(one, str) and isinstance(other, str):
        if one != other:
            yield one, other
    elif isinstance(one, list) and isinstance(other, list):
        for a, b in zip(cast("list[Any]", one), cast("list[Any]", other), strict=False):
            yield from _texts(a, b)


def _explains(shape: str, one: str, other: str) -> bool:
    """True if texts are more alike without what has this form."""
    return re.sub(shape, "", one) != one and set(re.findall(shape, one)) != set(re.findall(shape, other))


def _observers(found: Survey, looks: Sequence[tuple[Answered, bool]]) -> list[Observation]:
    mask = Mask.reading(found.mask)
    named = found.server.observations
    if named:
        return list(named)
    listed = {tool.name: tool for tool in found.tools}
    made: list[Observation] = []
    for item, fixed in looks:
        if not fixed or len(made) >= MOST_OBSERVERS:
            continue
        columns = columns_in(mask.of(_read(item.value)), "", listed[item.tool].listed.get("outputSchema"))
        left: Mapping[str, ColumnType] = {name: kind for name, kind in columns.items() if name not in mask.names}
        made.append(Observation(small_name(item.tool), item.tool, dict(item.arguments), "", left))
    return made


def _try(found: Survey, tool: TapeTool, suggested: Sequence[Mapping[str, DraftValue]] = ()) -> None:
    """Find arguments that a tool takes by itself."""
    with found.starts.fresh() as start:
        trial = _tried(found, tool, start, (), (), suggested)
    _keep(found, trial, start)


def _try_after(found: Survey, tools: Sequence[TapeTool], tell: Callable[[str], None]) -> None:
    """Try tools after each other one that acts: what they need may have to be made first."""
    left = list(tools)
    for item in [item for item in found.usable if len(item.steps) == 1 and item.steps[0].acts]:
        waiting = [*left]
        while waiting:
            with found.starts.fresh() as start:
                made = _Bench(found, start).make_all(item.steps)
                while made and waiting:
                    tool = waiting.pop(0)
                    trial = _tried(found, tool, start, item.steps, made, ())
                    if trial.best is not None:
                        break
                else:
                    break
            if _keep(found, trial, start):
                left.remove(tool)
                tell(f"tried {tool.name} after {item.steps[0].tool.name}")


@dataclass(frozen=True, slots=True)
class _Trial:
    """Outcome of trying a tool with several sets of arguments.

    ``first`` is a play of the steps, where the best set was the first call of its server.
    """

    tool: TapeTool
    before: tuple[DraftStep, ...]
    best: DraftStep | None
    first: tuple[StepPlayed, ...] | None
    refusal: str


def _tried(
    found: Survey,
    tool: TapeTool,
    start: TrialStart,
    before: tuple[DraftStep, ...],
    made: tuple[StepPlayed, ...],
    suggested: Sequence[Mapping[str, DraftValue]],
) -> _Trial:
    """Call a tool with one set of arguments after the other, on a server where the steps before were ``made``."""
    acts = tool.name not in found.looking
    best: DraftStep | None = None
    first: tuple[StepPlayed, ...] | None = None
    refusals: list[str] = []
    table = _Bench(found, start)
    earlier = [Answered(step.tool.name, step.plain, played.value) for step, played in zip(before, made, strict=True)]
    pool = replace(found.pool, answers=[*reversed(earlier), *found.pool.answers])
    for tried, arguments in enumerate((*suggested, *pool.sets(tool))):
        step = DraftStep(tool, acts, arguments)
        try:
            played = table.make(step)
        except ServerLostError as error:
            start.spent = True
            refusals.append(f"its server died: {error}")
            break
        if played is None:
            continue
        if played.refused:
            told = _short(text_of(played.result))
            given = _short(json.dumps(dict(step.plain), ensure_ascii=False), quoted=False)
            refusals.append(f"refused {given} with {told}; name other values with --value NAME=VALUE")
            continue
        best = best or step
        if not acts or played.changes or not found.observers:
            best, first = step, None if tried else (*made, played)
            break
    unknown = "no values were found for its arguments; name them with --value NAME=VALUE"
    return _Trial(tool, before, best, first, next(iter(refusals), unknown))


def _keep(found: Survey, trial: _Trial, start: TrialStart) -> bool:
    """Play what was found once more in another process, and keep it if it can be done again."""
    name = trial.tool.name
    if trial.best is None:
        found.left_out.setdefault(name, trial.refusal)
        return False
    steps = (*trial.before, trial.best)
    plays = [trial.first] if trial.first else []
    plays += play(found, steps, 2 - len(plays), start if plays else None)
    if len(plays) < 2:
        found.left_out.setdefault(name, "a call that was answered once is refused when it is made again")
        return False
    found.left_out.pop(name, None)
    found.usable.append(Usable(steps, plays[0], plays[1]))
    return True


def _short(text: str, most: int = 160, *, quoted: bool = True) -> str:
    line = " ".join(text.split())
    cut = line if len(line) <= most else f"{line[: most - 3]}..."
    return json.dumps(cut, ensure_ascii=False) if quoted else cut
