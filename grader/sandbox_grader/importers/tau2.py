"""Imports the results of tau2-bench: one ``results.json``, or a directory of it and ``simulations/*.json``.

Policy: the reference is the evaluation criteria's actions of the assistant; what else they demand goes to ``origin``.
Where tau2 excludes a run from its averages because the machinery failed, the session ends as one that failed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandbox_grader.importers.base import Faults, Imported, Loss
from sandbox_grader.importers.reading import chats
from sandbox_grader.importers.reading.build import Names, SessionBuilder, reference_call, stem
from sandbox_grader.importers.reading.json_values import JsonNode, is_array, load, load_whole, picked, read_bytes
from sandbox_grader.importers.reading.values import digest_of, stated
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory import EndReason, ReferenceCall

FAILED = MappingProxyType[str, EndReason](
    {
        "infrastructure_error": "agent_failed",
        "unexpected_error": "agent_failed",
        "context_window_exceeded": "agent_failed",
        "user_error": "user_failed",
    }
)
"""Termination reasons that say nothing about what the agent can do."""

CRITERIA = ("env_assertions", "communicate_info", "nl_assertions", "reward_basis")


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files or directories.

    Raises:
        ImportFormatError: one is not a result of tau2-bench.
        NothingToImportError: one has no simulations.
    """
    names = Names()
    for path in paths:
        results = path / "results.json" if path.is_dir() else path
        loaded = load(results)
        top = loaded.document
        tasks = {task.need("id").label(): task for task in top.need("tasks").items()}
        runs: list[tuple[JsonNode, Sequence[Loss]]] = [(run, loaded.losses) for run in top.items_at("simulations")]
        for beside in [] if runs else sorted((results.parent / "simulations").glob("*.json")):
            whole = load_whole(read_bytes(beside), str(beside))
            runs.append((whole.nodes[0], [*loaded.losses, *whole.losses]))
        if not runs:
            raise top.empty("holds no simulations, and there are none beside it")
        faults = Faults()
        for run, losses in runs:
            with faults.aside():
                yield _session(top, run, tasks, SessionBuilder("tau2", run.path, "", losses), names)
        faults.tell()


def _session(
    top: JsonNode, run: JsonNode, tasks: dict[str, JsonNode], builder: SessionBuilder, names: Names
) -> Imported:
    task_id, trial = run.need("task_id").label(), run.whole_at("trial")
    domain = _describe(top.get("info"), builder)
    builder.head = replace(
        builder.head, session=run.label_at("id") or "", scenario=f"{domain or 'tau2'}/{task_id}", trial=trial,
        seed=run.whole_at("seed"), categories=(domain,) if domain else (),
    )  # fmt: skip
    ours = _task(tasks[task_id], builder) if task_id in tasks else []
    if task_id not in tasks:
        builder.lose(run, f"task {task_id!r} is not in the file, so there are no reference actions")
    reward = run.get("reward_info")
    if reward is None:
        builder.lose(run, "no reward was recorded")
    else:
        builder.origin["reward"] = reward.need("reward").number()
        builder.origin["reward_info"] = {key: value for key, value in reward.members().items() if key != "reward"}
    if run.get("messages") is None and run.get("ticks") is not None:
        builder.lose(run, "a full-duplex run: its ticks hold fragments of speech, which are not read")
    chats.play(builder, run.items_at("messages"))
    builder.spend(run)
    _refer(ours, builder)
    reason = run.string_at("termination_reason")
    name = names.unique(stem(top.path), domain or "", f"task{task_id}", f"trial{trial}")
    return builder.finish(name, FAILED.get(reason, "recorded") if reason else None, reason)


def _describe(info: JsonNode | None, builder: SessionBuilder) -> str | None:
    """Tell who played, in which version and with which tools; gives the domain where it is named."""
    if info is None:
        return None
    agent, user, world = info.get("agent_info"), info.get("user_info"), info.get("environment_info")
    versions = stated(tau2=info.string_at("git_commit"))
    builder.head = replace(builder.head, agent=_participant(agent), user=_participant(user), versions=versions)
    if world is None:
        return None
    for name, definition in world.members_at("tool_defs").items():
        tool = world.need("tool_defs").child(name, definition)
        schema = tool.object_at("params")
        builder.offer(name, tool.string_at("doc") or "", schema.members() if schema else {})
    return world.string_at("domain_name")


def _participant(who: JsonNode | None) -> dict[str, str]:
    return stated(name=who.string_at("implementation"), model=who.string_at("llm")) if who is not None else {}


def _task(task: JsonNode, builder: SessionBuilder) -> list[JsonNode]:
    """Tell of a task; gives the reference actions of the assistant."""
    builder.head = replace(builder.head, digest=digest_of(task.value))
    builder.origin["task"] = picked(task.members(), ("id", "description", "user_scenario", "initial_state"))
    criteria = task.get("evaluation_criteria")
    if criteria is None:
        builder.lose(task, "the task has no evaluation criteria, so there are no reference actions")
        return []
    builder.origin["criteria"] = picked(criteria.members(), CRITERIA)
    if criteria.get("actions") is None:
        builder.lose(criteria, "the task is judged without actions, so there are no reference actions")
        return []
    actions = criteria.items_at("actions")
    ours = [action for action in actions if action.string_at("requestor") != "user"]
    others = [action.value for action in actions if action.string_at("requestor") == "user"]
    if others:
        builder.origin["user_actions"] = others
        where = actions[0].where.rpartition("[")[0]
        builder.lose(where, f"{len(others)} reference actions of the user are kept in the origin only")
    return ours


def _refer(actions: list[JsonNode], builder: SessionBuilder) -> None:
    """Add the reference; what an action is not compared in, it takes from the call that fits it.

    Source: tau2-bench, where ``compare_args`` names the arguments that count; null means all, an empty list none.
    """
    left, wanted = [call for call in builder.calls if call.caller == "agent"], list[ReferenceCall]()
    partly: dict[str, Any] = {}
    for index, action in enumerate(actions):
        call, names = reference_call(action, "arguments"), action.members().get("compare_args")
        if is_array(names):
            partly[str(index)] = names
            names = [name for name in names if isinstance(name, str)]
            given = {name: call.arguments.get(name) for name in names}
            fits = (made for made in left if made.called == call.tool)
            fitting = next((made for made in fits if {name: made.arguments.get(name) for name in names} == given), None)
            if fitting is not None:
                left.remove(fitting)
                call = replace(call, arguments=fitting.arguments)
        wanted.append(call)
    if actions:
        builder.refer(wanted)
    if partly:
        builder.origin["compare_args"] = partly
        told = f"of {counted(len(partly), 'reference action')} some arguments count for nothing, so any will do"
        builder.lose("reference", told)
