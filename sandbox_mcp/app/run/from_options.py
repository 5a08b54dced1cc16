"""Agent, users, scenarios and limits of a run, made from its options.

Policy: every process of a run makes its own from the same :class:`RunOptions`. The user's model is the agent's unless
the options name another one, because that is what a dry run and a first try want. An option that would have no effect
is an error, because the run would seem to be what it is not.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sandbox_clients.base import Agent
from sandbox_clients.frameworks import FRAMEWORKS
from sandbox_clients.registry import ADDRESS, ASKING, COMMAND, TEXT, agent_named
from sandbox_clients.settings import AgentSettings
from sandbox_grader.grading.spending import Price, Prices
from sandbox_scenarios import Suite

from sandbox_mcp.app.benchmarks.mtu_bench.play import RowCrew
from sandbox_mcp.app.benchmarks.mtu_bench.suite import RowSuite
from sandbox_mcp.app.benchmarks.tooltalk.prefix import KIND, check_recalls, played_truth, truthful_users
from sandbox_mcp.app.run.by_hand import PlayableSuite
from sandbox_mcp.app.run.cost import Budget, checked
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.executors import Executor, Processes
from sandbox_mcp.app.run.folder import RunFolder
from sandbox_mcp.app.run.instructions import instructions_from
from sandbox_mcp.app.run.knowledge import chosen_knowledge
from sandbox_mcp.app.run.options import AnswerForm, RunMode, RunOptions
from sandbox_mcp.app.run.sessions import Crew, judged_families
from sandbox_mcp.app.run.users import Users, human_users, replayed_users, user_tools, users_named
from sandbox_mcp.engine.worlds import use_file
from sandbox_mcp.play.models.asking import EndpointSettings

if TYPE_CHECKING:
    from sandbox_mcp.app.benchmarks.tooltalk.conversations import Conversations

JOBS = 4
"""Sessions played at a time unless options say otherwise."""
REPLAYED = "tooltalk.success"
"""Metric that counts in prefix replay unless another one is named: milestones have nothing to look at there."""
_OF_USER: Mapping[str, str] = {
    "user_tools": "llm", "user_without": "llm", "user_lines": "replay", "user_log": "replay",
}  # fmt: skip
"""Options that mean nothing unless that user plays."""


def agent_from(options: RunOptions) -> Agent:
    """The agent under test.

    Raises:
        UnknownAgentError: no agent has that name, or it lacks what it needs.
        RunError: it takes no heed of an option that was given.
    """
    settings = AgentSettings(
        endpoint=_agent_endpoint(options),
        max_steps=options.max_steps,
        react=options.react,
        python=options.agent_python,
        patience=options.max_turn_seconds,
    )
    made, name = agent_named(options.agent, settings), options.agent
    own_code = ":" in name and not name.startswith((COMMAND, TEXT, *ADDRESS))  # which may heed anything
    if options.react and not own_code and name not in ASKING:
        raise RunError(f"--react is for the agents {', '.join(ASKING)}, and the agent is {name!r}")
    if options.agent_python and not own_code and name not in FRAMEWORKS:
        raise RunError(f"--agent-python is for the agents {', '.join(FRAMEWORKS)}, and the agent is {name!r}")
    return made


def _agent_endpoint(options: RunOptions) -> EndpointSettings:
    return EndpointSettings(
        model=options.model,
        base_url=options.base_url,
        key_variable=options.api_key_env,
        parameters=options.params,
        timeout=options.timeout,
        retries=options.max_retries,
    )


def users_from(options: RunOptions) -> Users:
    """The users of all sessions.

    Raises:
        RunError: the llm user cannot be asked, there is nothing to replay, or an option is for other users.
    """
    kind = options.user
    for name, owner in _OF_USER.items():
        if getattr(options, name) not in (None, ()) and kind != owner:
            raise RunError(f"--{name.replace('_', '-')} is for --user {owner}, and the user is {kind}")
    if kind == "human":
        return human_users()
    if kind == "replay":
        from sandbox_mcp.app.run.utterances import recorded_lines, written_lines

        lines, log = options.user_lines, options.user_log
        if lines is not None and log is None:
            return replayed_users(written_lines(lines))
        if log is not None and lines is None:
            return replayed_users(recorded_lines(log, options.scenarios))
        raise RunError("--user replay says what is in --user-lines FILE or in --user-log PATH; give one of them")
    agent = _agent_endpoint(options)
    endpoint = replace(
        agent,
        model=options.user_model or agent.model,
        base_url=options.user_base_url or agent.base_url,
        key_variable=options.user_api_key_env or agent.key_variable,
        parameters=options.user_params,
    )
    return users_named(kind, endpoint, frozenset(options.user_without), user_tools(options.user_tools or ""))


def jobs_from(options: RunOptions, users: Users) -> int:
    """Sessions to play at a time: one where a person plays, unless another number was given.

    Raises:
        RunError: the person would have to share standard input with the selectors.
    """
    if users.alone and "-" in options.selectors:
        raise RunError("the human user needs standard input, so selectors cannot be read from it; use @FILE")
    return options.jobs or (1 if users.alone else JOBS)


def suite_from(options: RunOptions) -> PlayableSuite:
    """Scenarios to choose from, or rows, or the conversations of a checkout.

    Raises:
        RunError: options name several of these.
    """
    for path in options.world:
        use_file(path)
    if options.rows and (options.mode == "prefix" or options.tooltalk):
        raise RunError("rows have histories of their own; leave out --mode prefix and --tooltalk")
    if options.rows:
        return RowSuite(options.rows)
    if options.tooltalk is None:
        return PlayableSuite(options.scenarios, fill=options.fill or "")
    if options.scenarios:
        raise RunError("--tooltalk brings its own conversations; leave out --scenarios")
    from sandbox_mcp.app.benchmarks.tooltalk.conversations import Conversations

    return Conversations(options.tooltalk)


def picked(suite: PlayableSuite, options: RunOptions) -> PlayableSuite:
    """The scenarios that the options select, or instances of them; without any of either, the default mixture.

    Raises:
        RunError: a selector selects nothing, or the selected scenarios have no instances.
    """
    chosen = suite.select(*options.selected)
    if not options.instances and not options.instance_seed:
        return chosen
    if options.rows or options.tooltalk:
        raise RunError("rows and ToolTalk's conversations have no instances; leave out --instances")
    return chosen.instances(options.instances or 1, options.instance_seed or "")


def costs_from(options: RunOptions) -> tuple[Prices, Budget]:
    """Prices of agent and user, and the budget.

    Raises:
        GraderError: a price is malformed.
        RunError: the budget cannot be kept without a price.
    """
    agent = Price.parse(options.price) if options.price else None
    same = options.user_model in (None, options.model)
    user = Price.parse(options.user_price) if options.user_price else agent if same else None
    prices = Prices(agent, user)
    budget = Budget(options.budget, options.token_budget)
    return prices, checked(budget, prices, modelled_user=options.user == "llm")


def knowledge_from(options: RunOptions) -> object:
    """Sources of search tools; None for what worlds know by themselves.

    Raises:
        SandboxError: options contradict each other, or name neither knowledge nor a recording.
    """
    return chosen_knowledge(options.knowledge, options.record, options.replay)


def crew_from(options: RunOptions) -> Crew:
    """All that plays a session, made anew; worker processes call this as well.

    Raises:
        SandboxError: options contradict each other, or name something that cannot be used.
    """
    suite = suite_from(options)
    knowledge, agent, users = knowledge_from(options), agent_from(options), users_from(options)
    told, family = instructions_from(options.instructions), options.metric.partition(".")[0]
    metrics = tuple(dict.fromkeys((*judged_families(options), family)))
    if options.out is None:
        raise RunError("a run needs a folder to keep its logs in; name one with --out")
    crew = Crew(suite, agent, users, RunFolder(options.out), knowledge, options.keep_spoiled, metrics, told)
    return as_played(crew, options.mode, options.row_answers)


def executor_from(options: RunOptions, *, stored: bool = False) -> Executor | None:
    """Executor of the sessions; None for tasks of this process. ``stored`` logs are copied from here to a store.

    Raises:
        RunError: options contradict each other.
    """
    name, address, actors = options.executor, options.ray_address, options.ray_actors
    if name != "tasks" and options.record:
        raise RunError(f"processes cannot share one recording; leave out --record or --executor {name}")
    elsewhere = address or os.environ.get("RAY_ADDRESS")  # otherwise all nodes are on this machine, as the copy is
    if name == "ray" and elsewhere and stored:
        raise RunError(
            f"the nodes of the cluster at {elsewhere} have to see the folder that --out names; for a URL let Ray start "
            "on this machine, without an address, or share the work with --shard"
        )
    if name != "ray" and (address or actors):
        raise RunError("--ray-address and --ray-actors say something of --executor ray alone")
    crew = partial(crew_from, options)
    if name == "ray":
        from sandbox_mcp.app.run.on_ray import OnRay

        return OnRay(crew, address, actors)
    return Processes(crew) if name == "processes" else None


def as_played(crew: Crew, mode: RunMode, row_answers: AnswerForm) -> Crew:
    """A crew as it plays in a mode what its suite holds: scenarios, ToolTalk's conversations, or rows in a form.

    Raises:
        RunError: its agent cannot be given a history and has to be, or its users would have no part in it.
    """
    if isinstance(crew.suite, RowSuite):
        told = {**crew.instructions, "rows": row_answers}
        taking_part = (crew.suite, crew.agent, crew.users, crew.folder, crew.knowledge)
        return RowCrew(*taking_part, crew.keep_spoiled, crew.metrics, told, form=row_answers)
    talk = conversations_in(crew.suite)
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
    """Description of the users of ToolTalk's conversations; None for another suite."""
    talk = conversations_in(suite)
    return talk.users.description if talk else None


def conversations_in(suite: Suite) -> "Conversations | None":
    """The suite if it is ToolTalk's conversations; other suites are played without loading these or their office."""
    if "sandbox_mcp.app.benchmarks.tooltalk.conversations" not in sys.modules:
        return None
    from sandbox_mcp.app.benchmarks.tooltalk.conversations import Conversations

    return suite if isinstance(suite, Conversations) else None
