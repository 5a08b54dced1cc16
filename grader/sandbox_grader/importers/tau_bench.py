"""Imports the sessions that tau-bench recorded: one file, an array of them, each with its task and reward.

Policy: the task's actions are the one reference solution; the recorded reward is imported, never recomputed. A session
ended where its log stops if the user said the stop marker or the harness got to score it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sandbox_grader.importers.base import Faults, Imported
from sandbox_grader.importers.reading import chats
from sandbox_grader.importers.reading.build import Names, SessionBuilder, reference_call, stem
from sandbox_grader.importers.reading.json_values import JsonNode, load, picked
from sandbox_grader.importers.reading.values import digest_of
from sandbox_mcp.engine.trajectory import Message

STOP = "###STOP###"


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files.

    Raises:
        ImportFormatError: a file is not an array of tau-bench sessions.
    """
    names = Names()
    for path in paths:
        loaded, faults = load(path), Faults()
        for node in loaded.nodes if loaded.lines else loaded.nodes[0].items():
            with faults.aside():
                yield _session(node, SessionBuilder("tau-bench", str(path), "", loaded.losses), names)
        faults.tell()


def _session(node: JsonNode, builder: SessionBuilder, names: Names) -> Imported:
    task_id, trial = node.need("task_id").label(), node.whole_at("trial")
    info = node.get("info")
    task = info.get("task") if info else None
    builder.head = replace(builder.head, scenario=f"tau-bench/{task_id}", trial=trial)
    reward = node.number_at("reward")
    if reward is not None:
        builder.origin["reward"] = reward
    if info is not None:
        if info.get("error") is not None:
            builder.lose(info, "the harness broke off with an error")
        builder.origin.update(picked(info.members(), ("source", "user_cost", "reward_info", "error")))
    if task is not None:
        if task.get("actions") is None:
            builder.lose(task, "the task lists no actions, so there is no reference")
        else:
            builder.refer([reference_call(action, "kwargs") for action in task.items_at("actions")])
        builder.origin["task"] = {key: value for key, value in task.members().items() if key != "actions"}
        builder.head = replace(builder.head, digest=digest_of(task.value))
    else:
        builder.lose(node, "the task is absent, so there are no reference actions")
    chats.play(builder, node.need("traj").items())
    ended = _how_it_ended(builder, info)
    name = names.unique(stem(node.path), f"task{task_id}", f"trial{trial}")
    return builder.finish(name, "recorded" if ended else None, ended)


def _how_it_ended(builder: SessionBuilder, info: JsonNode | None) -> str | None:
    last = builder.last
    if isinstance(last, Message) and last.sender == "user" and STOP in last.content:
        return "the user stopped"
    if info is None or info.get("reward_info") is None or last is None or not builder.settled:
        return None
    return "the harness scored it after " + ("a message" if isinstance(last, Message) else f"a call of {last.name}")
