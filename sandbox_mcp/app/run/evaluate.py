"""The way in from Python: play an agent through scenarios and get a report; grade a log.

Policy: what can be said on the command line of ``run`` can be said here, with the same defaults, but that tools are
reached without MCP unless the agent needs a URL: both leave the same log. Where an event loop runs already, as in a
notebook, the sessions run in a loop of their own, in a thread.
"""

import asyncio
import inspect
import math
import re
import shutil
import sys
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import anyio
from anyio.from_thread import start_blocking_portal
from sandbox_clients.base import Agent
from sandbox_clients.function import Respond, function_agent
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings
from sandbox_grader.errors import GraderError
from sandbox_grader.grading.metric import Metric, Mode
from sandbox_grader.grading.metrics import checked
from sandbox_grader.grading.scores import SCORE, Scores
from sandbox_grader.grading.scores import grade as grade_session
from sandbox_grader.grading.spending import Prices
from sandbox_grader.reporting.report import Report
from sandbox_scenarios import Scenario, Suite, UnknownScenarioError
from sandbox_scenarios.variants import canonical

from sandbox_mcp.app.benchmarks.mtu_bench.instructions import AnswerForm
from sandbox_mcp.app.benchmarks.mtu_bench.play import ROWS_METRIC, RowCrew
from sandbox_mcp.app.benchmarks.mtu_bench.suite import RowSuite
from sandbox_mcp.app.benchmarks.tooltalk.prefix import KIND, check_recalls, played_truth, truthful_users
from sandbox_mcp.app.run.batch import Batch, Watch
from sandbox_mcp.app.run.by_hand import PlayedLog, ScenarioAtHand
from sandbox_mcp.app.run.cost import Budget
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.executors import Executor
from sandbox_mcp.app.run.folder import PACKED_FROM, RunFolder
from sandbox_mcp.app.run.progress import RunTally
from sandbox_mcp.app.run.sessions import JUDGED, Crew, RunPlan
from sandbox_mcp.app.run.transports import TRANSPORTS, Transport
from sandbox_mcp.app.run.unit import Shard
from sandbox_mcp.app.run.users import Users, users_named
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.trajectory import Trajectory, read_trajectory
from sandbox_mcp.play.models.asking import EndpointSettings
from sandbox_mcp.play.session import chosen_instructions
from sandbox_mcp.play.telemetry import flush, scored

if TYPE_CHECKING:
    from sandbox_mcp.app.benchmarks.tooltalk.conversations import Conversations

_T = TypeVar("_T")
RunMode = Literal["on-policy", "prefix"]
"""How an agent is played: on from what it did itself, or every turn from the ground truth."""
REPLAYED = "tooltalk.success"
"""What counts in prefix replay unless another metric is named: milestones have nothing to look at there."""


def evaluate(
    agent: str | Agent | Respond,
    suite: Suite | None = None,
    *,
    model: str = "",
    base_url: str | None = None,
    variants: Sequence[str] | str = ("base",),
    trials: int = 1,
    seed: int = 0,
    user: str | Users = "scripted",
    metric: str = SCORE,
    metrics: Sequence[str | Metric] | str = (),
    keep_spoiled: bool = False,
    jobs: int = 4,
    out: Path | str | None = None,
    pack: bool | None = None,
    transport: Transport | None = None,
    max_turn_seconds: float = math.inf,
    shard: Shard = Shard(),  # noqa: B008  (frozen)
    prices: Prices = Prices(),  # noqa: B008  (frozen)
    budget: Budget = Budget(),  # noqa: B008  (frozen)
    executor: Executor | None = None,
    knowledge: object = None,
    instructions: str | Mapping[str, Any] = "",
    row_answers: AnswerForm = "calls",
    mode: RunMode = "on-policy",
    details: bool = True,
    watch: Watch | None = None,
) -> Report:
    """Play an agent through scenarios and grade every session.

    Args:
        agent: An async function that gets what it is asked and returns what to say, an :class:`Agent`, or a name as
            ``run --agent`` takes it.
        suite: The scenarios; the built-in ones without.
        model: Model of an agent that is given by name, and of the ``llm`` user.
        base_url: Their endpoint; what the provider's variable says without.
        variants: How tools are presented.
        trials: Sessions per scenario and variant.
        seed: Decides the world's ids.
        user: Who plays the user, ``scripted`` or ``llm``, or users made otherwise.
        metric: What counts in the report, as ``family.name``.
        metrics: Further families of metrics to ask, by name or as objects.
        keep_spoiled: Also score sessions that their user spoiled.
        jobs: Sessions played at a time.
        out: Folder for logs, manifest and summary, in which the same call plays only what is missing; without, nothing
            is kept unless the run breaks, and then the error says where.
        pack: Whether logs go into packs; without, those of many sessions do.
        transport: How the agent reaches its tools: ``direct``, ``memory`` or ``http``.
        max_turn_seconds: How long an agent may take to answer one message of the user.
        shard: The part of the sessions to play.
        prices: What a million tokens cost.
        budget: How much may be spent.
        executor: On what sessions are played; tasks of this process without.
        knowledge: What search tools look things up in; the offline sources without.
        instructions: What the agent is told first, in place of what all agents are told.
        row_answers: With the rows of a :class:`RowSuite`: whether they are answered by ``calls`` or in ``text``. There
            ``mtu_bench.right`` counts unless another metric is named.
        mode: Whether the agent goes on from what it did itself, or ``prefix``: every turn from the ground truth. There
            ``tooltalk.success`` counts unless another metric is named.
        details: Whether sessions can explain their scores. Without them each of many sessions takes up some hundred
            bytes in place of some 20 KB.
        watch: Told of every session that is done.

    Raises:
        SandboxError: something cannot be used; the message says what and what was expected.
    """
    known = Suite() if suite is None else suite
    variants = (variants,) if isinstance(variants, str) else tuple(variants or ())
    metrics = (metrics,) if isinstance(metrics, str) else tuple(metrics or ())
    _check_arguments(
        suite=known, variants=variants, trials=trials, jobs=jobs, seed=seed, max_turn_seconds=max_turn_seconds,
        transport=transport, mode=mode, row_answers=row_answers, executor=executor, watch=watch,
        shard=shard, prices=prices, budget=budget, model=model, base_url=base_url, metric=metric, knowledge=knowledge,
        instructions=instructions,
    )  # fmt: skip
    if isinstance(instructions, str):
        instructions = chosen_instructions("instructions", instructions) if instructions else dict[str, Any]()
    endpoint = EndpointSettings(model=model, base_url=base_url)
    with _arguments_for_options():
        playing = _agent(agent, endpoint)
    if isinstance(known, RowSuite):
        metric = ROWS_METRIC if metric == SCORE else metric
        _check_rows(playing, variants, mode, row_answers)
    if not isinstance(user, Users) and user not in ("scripted", "llm"):
        raise RunError(f"unknown user {user!r}; known: scripted, llm, or a Users object")
    with _arguments_for_options():
        users = user if isinstance(user, Users) else users_named(user, endpoint)
    if metric == SCORE and (mode == "prefix" or _conversations(known)):
        metric = REPLAYED
    way: Transport = transport or ("http" if playing.needs_url else "direct")
    if playing.needs_url and way != "http":
        raise RunError(f"agent {playing.name!r} needs a URL; use --transport http")
    own = tuple(checked(one) for one in metrics if not isinstance(one, str))
    counts = {metric.partition(".")[0]}.difference(one.name for one in own)
    asked = tuple(dict.fromkeys((*JUDGED, *metrics, *counts)))
    plan = RunPlan(
        scenarios=known.names(), variants=tuple(dict.fromkeys(map(canonical, variants))), seed=seed, trials=trials,
        jobs=jobs, shard=shard, transport=way, patience=max_turn_seconds,
    )  # fmt: skip
    plan = replace(plan, packed=len(plan.units) >= PACKED_FROM if pack is None else pack)
    tally = RunTally(prices, budget, metric=metric, own_metrics=own)
    with nullcontext(Path(out)) if out else _passing_place() as place:
        folder = RunFolder(place)
        crew = Crew(known, playing, users, folder, knowledge, keep_spoiled, asked, instructions)
        whole = details or len(plan.units) < PACKED_FROM
        watch = watch or (lambda _progress, _tally: None)
        try:
            batch = Batch(as_played(crew, mode, row_answers), plan, watch, tally, executor, whole)
            report = in_own_loop(batch.run)
        finally:
            flush()
    report.name = str(out or playing.name)
    return report


def _check_arguments(**given: object) -> None:
    """See that these arguments of :func:`evaluate` can be used.

    Raises:
        RunError: one cannot.
    """
    for name, value in given.items():
        is_usable, expected = _USABLE[name]
        if not is_usable(value):
            raise RunError(f"{name}={value!r} cannot be used; expected {expected}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_USABLE: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "suite": (lambda value: hasattr(value, "names"), "a Suite, such as Suite().select('wifi_off')"),
    "variants": (bool, "at least one"),
    "trials": (lambda value: _is_whole(value) and value >= 1, "a whole number from 1"),
    "jobs": (lambda value: _is_whole(value) and value >= 1, "a whole number from 1"),
    "seed": (_is_whole, "a whole number"),
    "max_turn_seconds": (lambda value: isinstance(value, int | float) and value > 0, "more than 0"),
    "transport": (lambda value: value in (None, *TRANSPORTS), ", ".join(TRANSPORTS)),
    "mode": (lambda value: value in get_args(RunMode), " or ".join(get_args(RunMode))),
    "row_answers": (lambda value: value in get_args(AnswerForm), " or ".join(get_args(AnswerForm))),
    "executor": (lambda value: value is None or hasattr(value, "play"), "an Executor"),
    "watch": (lambda value: value is None or callable(value), "a function of a Progress and a RunTally"),
    "shard": (lambda value: isinstance(value, Shard), "a Shard object"),
    "prices": (lambda value: isinstance(value, Prices), "a Prices object"),
    "budget": (lambda value: isinstance(value, Budget), "a Budget object"),
    "model": (lambda value: isinstance(value, str), "a model's name"),
    "base_url": (lambda value: value is None or isinstance(value, str), "an address"),
    "metric": (lambda value: isinstance(value, str), "FAMILY.NAME, such as 'tooltalk.success'"),
    "knowledge": (lambda value: not isinstance(value, str), "sources, such as a Knowledge object"),
    "instructions": (lambda value: isinstance(value, str | Mapping), "a text"),
}
"""What arguments of :func:`evaluate` must be like, and how an error says so."""


@contextmanager
def _arguments_for_options() -> Generator[None]:
    """Let an agent or a user that was named here say what it lacks as it is given here, and not on the command line."""
    try:
        yield
    except SandboxError as error:
        error.args = (
            re.sub(r"--(?:user-)?(model|base-url)\b", lambda told: told[1].replace("-", "_") + "=", str(error)),
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


def as_played(crew: Crew, mode: RunMode, row_answers: AnswerForm) -> Crew:
    """A crew as it plays in a mode what its suite holds: scenarios, ToolTalk's conversations, or rows in a form.

    Raises:
        RunError: its agent cannot be given a history and has to be, or its users would have no part in it.
    """
    if isinstance(crew.suite, RowSuite):
        told = {**crew.instructions, "rows": row_answers}
        taking_part = (crew.suite, crew.agent, crew.users, crew.folder, crew.knowledge)
        return RowCrew(*taking_part, crew.keep_spoiled, crew.metrics, told, form=row_answers)
    talk = _conversations(crew.suite)
    kind = crew.users.description.get("kind")
    if talk is None and mode == "on-policy":
        return crew
    if kind not in ("scripted", KIND) and crew.users.description != talk_users(crew.suite):
        raise RunError(
            f"the user says what was written down in advance, so {kind!r} has no part in it; leave out --user"
        )
    metrics = tuple(dict.fromkeys((*crew.metrics, REPLAYED.partition(".")[0])))
    crew = replace(crew, metrics=metrics, complete=talk.completed if talk else crew.complete)
    if mode == "prefix":
        check_recalls(crew.agent)
        return replace(crew, users=truthful_users(), truths=talk.truth if talk else played_truth)
    return replace(crew, users=talk.users) if talk else crew


def talk_users(suite: Suite) -> Mapping[str, Any] | None:
    """What is said of the users of ToolTalk's conversations; None for another suite."""
    talk = _conversations(suite)
    return talk.users.description if talk else None


def _conversations(suite: Suite) -> "Conversations | None":
    """The suite if it is ToolTalk's conversations; other suites are played without loading these or their office."""
    if "sandbox_mcp.app.benchmarks.tooltalk.conversations" not in sys.modules:
        return None
    from sandbox_mcp.app.benchmarks.tooltalk.conversations import Conversations

    return suite if isinstance(suite, Conversations) else None


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


def _agent(given: str | Agent | Respond, endpoint: EndpointSettings) -> Agent:
    if isinstance(given, str):
        return agent_named(given, AgentSettings(endpoint=endpoint))
    if isinstance(given, Agent):
        return given
    if asked := function_agent(given):
        return asked
    found = "a function that is not async" if inspect.isroutine(given) else f"{type(given).__name__}"
    name = getattr(given, "__name__", repr(given))
    raise RunError(f"agent {name!r} cannot be played; expected an async function, an Agent, or a name, found {found}")
