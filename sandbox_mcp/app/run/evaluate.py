"""The way in from Python: play an agent through scenarios and get a report; grade a log.

Policy: what can be said on the command line of ``run`` can be said here, with the same defaults, but that tools are
reached without MCP unless the agent needs a URL: both leave the same log. Where an event loop runs already, as in a
notebook, the sessions run in a loop of their own, in a thread.
"""

import asyncio
import inspect
import logging
import math
import re
import shutil
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar, Unpack, get_args

import anyio
from anyio.from_thread import start_blocking_portal
from sandbox_clients.base import Agent
from sandbox_clients.function import Respond, function_agent
from sandbox_grader.errors import GraderError
from sandbox_grader.grading.metric import Metric, Mode
from sandbox_grader.grading.metrics import checked
from sandbox_grader.grading.scores import SCORE, Scores
from sandbox_grader.grading.scores import grade as grade_session
from sandbox_grader.grading.spending import Prices
from sandbox_grader.reporting.report import Report
from sandbox_scenarios import Scenario, Suite, UnknownScenarioError
from sandbox_scenarios.injections import injections_into
from sandbox_scenarios.model import PERSONAS, Persona
from sandbox_scenarios.personas import NEEDS, PLAIN, applies
from sandbox_scenarios.problem import closest
from sandbox_scenarios.variants import (
    canonical,
    injected,
    injection_in,
    is_under_faults,
    personas_in,
    under_faults,
    undisturbed,
    with_persona,
)

from sandbox_mcp.app.benchmarks.mtu_bench.play import ROWS_METRIC
from sandbox_mcp.app.benchmarks.mtu_bench.suite import RowSuite
from sandbox_mcp.app.run.batch import Batch, Watch
from sandbox_mcp.app.run.by_hand import PlayedLog, ScenarioAtHand
from sandbox_mcp.app.run.cost import Budget
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.executors import Executor
from sandbox_mcp.app.run.folder import PACKED_FROM, RunFolder
from sandbox_mcp.app.run.from_options import (
    REPLAYED,
    agent_from,
    as_played,
    conversations_in,
    costs_from,
    executor_from,
    jobs_from,
    knowledge_from,
    picked,
    suite_from,
    users_from,
)
from sandbox_mcp.app.run.instructions import instructions_from
from sandbox_mcp.app.run.options import AnswerForm, RunKeywords, RunMode, RunOptions, Transport, UserName
from sandbox_mcp.app.run.progress import RunTally
from sandbox_mcp.app.run.run_file import kept_options
from sandbox_mcp.app.run.sessions import Crew, RunPlan, judged_families
from sandbox_mcp.app.run.unit import Shard
from sandbox_mcp.app.run.users import Users
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory import Trajectory, read_trajectory
from sandbox_mcp.play.session import chosen_instructions
from sandbox_mcp.play.telemetry import flush, scored

logger = logging.getLogger(__name__)
_T = TypeVar("_T")
IN_PYTHON = RunOptions(max_turn_seconds=math.inf)
"""Options of :func:`evaluate` unless others are given."""


def evaluate(
    agent: str | Agent | Respond,
    suite: Suite | None = None,
    *,
    options: RunOptions = IN_PYTHON,
    user: str | Users | None = None,
    metrics: Sequence[str | Metric] | str = (),
    executor: Executor | None = None,
    knowledge: object = None,
    instructions: str | Mapping[str, Any] = "",
    shard: Shard | None = None,
    prices: Prices | None = None,
    budget: Budget | None = None,
    details: bool = True,
    watch: Watch | None = None,
    **changes: Unpack[RunKeywords],
) -> Report:
    """Play an agent through scenarios and grade every session.

    Args:
        agent: An async function that gets what it is asked and returns what to say, an :class:`Agent`, or a name as
            ``run --agent`` takes it.
        suite: The scenarios; those that ``options`` select without, which are the built-in ones by default.
        options: Options of a run, as ``run`` has them; objects given beside them count instead.
        user: Who plays the user: ``scripted``, ``llm``, or users made otherwise.
        metrics: Further families of metrics to ask, by name or as objects.
        executor: On what sessions are played; tasks of this process without.
        knowledge: What search tools look things up in; the offline sources without.
        instructions: What the agent is told first, in place of what all agents are told.
        shard: The part of the sessions to play.
        prices: What a million tokens cost.
        budget: How much may be spent.
        details: Whether sessions can explain their scores. Without them each of many sessions takes up some hundred
            bytes in place of some 20 KB.
        watch: Told of every finished session.
        **changes: Single options in place of those in ``options``, by name: ``model``, ``base_url``, ``variants``,
            ``trials``, ``seed``, ``metric``, ``keep_spoiled``, ``jobs``, ``pack``, ``transport`` (``direct`` unless
            another one is named), ``max_turn_seconds`` (no limit), ``mode``, ``row_answers`` and all others of
            :class:`RunKeywords`. ``out`` is the folder for logs, manifest and summary, in which the same call plays
            only what is missing; without, nothing is kept unless the run breaks, and then the error says where.

    Raises:
        SandboxError: something cannot be used; the message says what and what was expected.
    """
    _check_arguments(
        suite=suite, executor=executor, watch=watch, shard=shard, prices=prices, budget=budget, knowledge=knowledge,
        instructions=instructions,
    )  # fmt: skip
    if user is not None and not isinstance(user, Users) and user not in get_args(UserName):
        raise RunError(f"unknown user {user!r}; known: {', '.join(get_args(UserName))}, or a Users object")
    options = options.but({**changes, **({} if user is None or isinstance(user, Users) else {"user": user})})
    if isinstance(agent, str):
        options = replace(options, agent=agent)
    with _arguments_for_options():
        playing = agent_from(options) if isinstance(agent, str) else _agent(agent)
        known = picked(suite_from(options), options) if suite is None else suite
        users = user if isinstance(user, Users) else users_from(options)
    if executor is None and options.executor != "tasks":
        if suite is not None or not isinstance(agent, str):
            raise RunError(f"executor={options.executor!r} needs an agent by name, and scenarios by options")
        executor = executor_from(options)
    if prices is not None or budget is not None:
        costs = (prices or Prices(), budget or Budget())
    else:
        costs = costs_from(options)
    by_options = isinstance(agent, str) and suite is None
    return play_run(
        options, playing, known, users, costs=costs, told=_told(instructions), sources=knowledge, metrics=metrics,
        shard=shard, executor=executor, details=details, watch=watch, otherwise="direct",
        stated=kept_options(options) if by_options else {},
    )  # fmt: skip


def play_run(
    options: RunOptions,
    agent: Agent,
    suite: Suite,
    users: Users,
    *,
    stated: Mapping[str, Any],
    otherwise: Transport = "memory",
    costs: tuple[Prices, Budget] | None = None,
    told: Mapping[str, Any] | None = None,
    sources: object = None,
    metrics: Sequence[str | Metric] | str = (),
    shard: Shard | None = None,
    executor: Executor | None = None,
    details: bool = True,
    watch: Watch | None = None,
) -> Report:
    """Play a run whose agent, scenarios and users are made, and grade every session; the rest is as options say.

    ``stated`` options are kept in the manifest. ``otherwise`` is the transport where options name none and the agent
    needs no URL. The other arguments count in place of what options say.

    Raises:
        SandboxError: something cannot be used; the message says what and what was expected.
    """
    metric, variants = options.metric, options.variants
    if isinstance(suite, RowSuite):
        metric = ROWS_METRIC if metric == SCORE else metric
        _check_rows(agent, variants, options.mode, options.row_answers)
    if metric == SCORE and (options.mode == "prefix" or conversations_in(suite)):
        metric = REPLAYED
    way: Transport = options.transport or ("http" if agent.needs_url else otherwise)
    if agent.needs_url and way != "http":
        raise RunError(f"agent {agent.name!r} needs a URL; use --transport http")
    own = tuple(checked(one) for one in _listed(metrics) if not isinstance(one, str))
    counts = {metric.partition(".")[0]}.difference(one.name for one in own)
    attacks = options.injections or 0
    if options.persona and (isinstance(suite, RowSuite) or options.mode == "prefix"):
        raise RunError("--persona needs a user who answers, and there is none in rows and in prefix replay")
    variants = _with_personas(variants, options.persona)
    every = _with_injections(_with_faults(variants, options.faults), attacks)
    plan = RunPlan(
        scenarios=suite.names(), seed=options.seed,
        variants=every,
        trials=options.trials, jobs=jobs_from(options, users), shard=shard or Shard.parse(options.shard), transport=way,
        patience=options.max_turn_seconds, lacking=_lacking(suite, attacks, variants) | _unplayable(suite, every),
    )  # fmt: skip
    asked = tuple(dict.fromkeys((*judged_families(options), *_listed(metrics), *counts)))
    plan = replace(plan, packed=len(plan.units) >= PACKED_FROM if options.pack is None else options.pack)
    prices, budget = costs or costs_from(options)
    tally = RunTally(prices, budget, metric=metric, own_metrics=own, keep_going=options.keep_going)
    told = instructions_from(options.instructions) if told is None else told
    sources = knowledge_from(options) if sources is None else sources
    with nullcontext(options.out) if options.out else _passing_place() as place:
        folder = RunFolder(place)
        crew = Crew(suite, agent, users, folder, sources, options.keep_spoiled, asked, told)
        whole = details or len(plan.units) < PACKED_FROM
        watch = watch or (lambda _progress, _tally: None)
        try:
            played = as_played(crew, options.mode, options.row_answers)
            batch = Batch(played, plan, watch, tally, executor, whole, stated)
            report = in_own_loop(batch.run)
        finally:
            flush()
    report.name = str(options.out or agent.name)
    return report


def _with_personas(variants: Sequence[str], asked: Sequence[str]) -> tuple[str, ...]:
    """The variants to play, each with each of the personas asked for; as they are where none is, or for ``plain``.

    Raises:
        RunError: there is no such persona.
    """
    for name in asked:
        if name not in (PLAIN, *PERSONAS):
            raise RunError(f"unknown persona {name!r}; {closest(name, [PLAIN, *PERSONAS])}")
    if not asked:
        return tuple(variants)
    personas: list[Persona | None] = [
        next((persona for persona in PERSONAS if persona == name), None) for name in asked
    ]
    return tuple(with_persona(variant, persona) if persona else variant for variant in variants for persona in personas)


def _with_faults(variants: Sequence[str], faults: Sequence[str]) -> tuple[str, ...]:
    """The variants to play, each once as it is and once with calls that go wrong, where any are to.

    Raises:
        SandboxError: there is no such kind of fault, or a rate cannot be used.
    """
    plain = tuple(dict.fromkeys(map(canonical, variants)))
    if not faults:
        return plain
    return tuple(dict.fromkeys((*plain, *(under_faults(undisturbed(name), faults) for name in plain))))


def _with_injections(variants: Sequence[str], most: int) -> tuple[str, ...]:
    """The variants to play, and those without faults once more with each of so many injections."""
    plain = [name for name in variants if not is_under_faults(name) and not injection_in(name)]
    return (*variants, *(injected(name, number) for name in plain for number in range(1, most + 1)))


def _lacking(suite: Suite, most: int, variants: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Scenarios that have fewer injections than this, with the variants that they lack."""
    if not most:
        return frozenset()
    has = {name: len(injections_into(suite.get(name))) for name in suite.names()}
    return frozenset(
        (name, injected(canonical(variant), number))
        for name, found in has.items()
        for variant in variants
        for number in range(found + 1, most + 1)
    )


def _unplayable(suite: Suite, variants: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Scenarios whose user cannot play a persona that was asked for, with the variants that ask for it.

    Raises:
        RunError: none of the scenarios can be played so.
    """
    left_out = frozenset[tuple[str, str]]()
    for variant in variants:
        needing: list[Persona] = [persona for persona in personas_in(variant) if persona in NEEDS]
        if not needing:
            continue
        lacking = {
            name for name in suite.names() if not all(applies(persona, suite.get(name).user) for persona in needing)
        }
        if len(lacking) == len(suite.names()):
            needed = " and ".join(NEEDS[persona] for persona in needing)
            raise RunError(f"variant {variant!r}: none of these scenarios has {needed} in the brief of its user")
        left_out |= {(name, variant) for name in lacking}
        if lacking:
            logger.warning(
                "variant %r leaves out %s whose user cannot play it", variant, counted(len(lacking), "scenario")
            )
    return left_out


def _told(instructions: str | Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Instructions as an agent's description has them; None for none."""
    if isinstance(instructions, str):
        return chosen_instructions("instructions", instructions) if instructions else None
    return instructions


def _listed(metrics: Sequence[str | Metric] | str) -> Sequence[str | Metric]:
    return (metrics,) if isinstance(metrics, str) else tuple(metrics or ())


def _check_arguments(**given: object) -> None:
    """See that these objects can be used.

    Raises:
        RunError: one cannot.
    """
    for name, value in given.items():
        is_usable, expected = _USABLE[name]
        if value is not None and not is_usable(value):
            raise RunError(f"{name}={value!r} cannot be used; expected {expected}")


_USABLE: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "suite": (lambda value: hasattr(value, "names"), "a Suite, such as Suite().select('wifi_off')"),
    "executor": (lambda value: hasattr(value, "play"), "an Executor"),
    "watch": (callable, "a function of a Progress and a RunTally"),
    "shard": (lambda value: isinstance(value, Shard), "a Shard object"),
    "prices": (lambda value: isinstance(value, Prices), "a Prices object"),
    "budget": (lambda value: isinstance(value, Budget), "a Budget object"),
    "knowledge": (lambda value: not isinstance(value, str), "sources, such as a Knowledge object"),
    "instructions": (lambda value: isinstance(value, str | Mapping), "a text"),
}
"""Objects that :func:`evaluate` takes, and how an error describes them."""


@contextmanager
def _arguments_for_options() -> Generator[None]:
    """Let an agent or a user that was named here say what it lacks as it is given here, and not on the command line."""
    try:
        yield
    except SandboxError as error:
        error.args = (
            re.sub(r"(?<!-)--(?:user-)?([a-z-]+)\b", lambda told: told[1].replace("-", "_") + "=", str(error)),
        )
        raise


def _check_rows(agent: Agent, variants: Sequence[str], mode: RunMode, row_answers: AnswerForm) -> None:
    """See that nothing was asked for that rows cannot be played with.

    Raises:
        RunError: something was.
    """
    if variants != ("base",):
        raise RunError(f"rows have no variants; expected 'base' alone, got {', '.join(variants)}")
    if mode == "prefix":
        raise RunError("rows are asked on the ground truth's history anyway; leave out --mode prefix")
    if row_answers == "text" and agent.wants_solution:
        raise RunError(f"agent {agent.name!r} plays solutions by calls; leave out --row-answers text")


@contextmanager
def _passing_place() -> Generator[Path]:
    """A folder that goes when the run is over; where the run breaks it stays with what was played, which may be dear.

    The error then has a note that says where, and how to go on.
    """
    place = Path(mkdtemp(prefix="sandbox-run-"))
    try:
        yield place
    except BaseException as error:
        if any(RunFolder(place).logs.glob("*")):
            error.add_note(f"what had been played is kept; the same call with out={str(place)!r} goes on from there")
            raise
        shutil.rmtree(place, ignore_errors=True)
        raise
    shutil.rmtree(place, ignore_errors=True)


def grade(
    log: Trajectory | Path | str,
    scenario: Scenario | ScenarioAtHand | None = None,
    mode: Mode = "strict",
    *,
    metrics: Sequence[str | Metric] | str = (),
    keep_spoiled: bool = False,
    similarity: str = "rouge-l",
) -> Scores:
    """Grade one log, or the file it is in, with these families of metrics, or with all there are.

    Without a ``scenario`` it is the one that was played by hand, or the built-in one of the log's name.

    Raises:
        TrajectoryError: the file cannot be read.
        GraderError: the scenario, the log, a metric or the similarity cannot be used.
    """
    if mode not in get_args(Mode):
        raise GraderError(f"unknown mode {mode!r}; known: {', '.join(get_args(Mode))}")
    given: tuple[tuple[object, Any, str], ...] = (
        (log, Trajectory | Path | str, "a log, the path of one, or phone.log of what was played by hand"),
        (scenario, Scenario | ScenarioAtHand | None, "a scenario, such as Suite()['wifi_off']"),
    )
    for one, kinds, expected in given:
        if not isinstance(one, kinds):
            found = repr(one) if isinstance(one, str) else type(one).__name__
            raise GraderError(f"grade takes {expected}; found {found}")
    scenario = scenario.scenario if isinstance(scenario, ScenarioAtHand) else scenario
    if not isinstance(log, Trajectory) and Path(log).is_dir():
        raise GraderError(f"{str(log)!r} is a folder; sandbox_grader.read_report makes a Report of the logs in it")
    trajectory = log if isinstance(log, Trajectory) else read_trajectory(Path(log))
    if scenario is None and isinstance(trajectory, PlayedLog):
        scenario = trajectory.scenario
    if scenario is None:
        try:
            scenario = Suite().get(trajectory.started.scenario)
        except UnknownScenarioError:
            scenario = None
    options: dict[str, Any] = {"metrics": metrics, "keep_spoiled": keep_spoiled, "similarity": similarity}
    scores = grade_session(trajectory, scenario, mode, **options)
    scored(trajectory.started, scores.figures)
    return scores


def in_own_loop(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Run this to its end, in a thread of its own where a loop runs already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return anyio.run(work)
    with start_blocking_portal() as portal:  # which stops the work where the caller is interrupted
        return portal.call(work)


def _agent(given: Agent | Respond) -> Agent:
    if isinstance(given, Agent):
        return given
    if asked := function_agent(given):
        return asked
    found = "a function that is not async" if inspect.isroutine(given) else f"{type(given).__name__}"
    name = getattr(given, "__name__", repr(given))
    raise RunError(f"agent {name!r} cannot be played; expected an async function, an Agent, or a name, found {found}")
