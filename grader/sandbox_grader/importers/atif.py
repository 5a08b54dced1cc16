"""Imports the Agent Trajectory Interchange Format (ATIF), versions 1.x, as Harbor and others write it.

Policy: steps copied from an earlier trajectory are left out. Sub-agents are part of the session, where the call that
started them ends. ATIF has no flag for errors: where one was written into ``extra`` it counts, elsewhere the text has
to tell.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sandbox_grader.importers.base import Faults, Imported
from sandbox_grader.importers.reading import chats
from sandbox_grader.importers.reading.build import CallOutcome, Ending, Names, SessionBuilder, stem
from sandbox_grader.importers.reading.content import joined, outcome_of
from sandbox_grader.importers.reading.json_values import JsonNode, Loaded, load, picked
from sandbox_grader.importers.reading.values import arguments_of
from sandbox_grader.ours import OURS, ending_in, error_in, role_in, take_about
from sandbox_mcp.engine.trajectory import Role

VERSION = "ATIF-v1."


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files.

    Raises:
        ImportFormatError: a file is not an ATIF document.
    """
    names = Names()
    for path in paths:
        loaded, faults = load(path), Faults()
        for document in (part for node in loaded.nodes for part in node.each()):
            with faults.aside():
                yield _trajectory(document, loaded, names)
        faults.tell()


def _trajectory(node: JsonNode, loaded: Loaded, names: Names) -> Imported:
    """A trajectory with those of the sub-agents embedded in it."""
    version = node.need("schema_version")
    if not version.string().startswith(VERSION):
        raise version.fail(f"is {version.value!r}; expected {VERSION}x")
    builder = SessionBuilder("atif", node.path, stem(node.path), loaded.losses)
    session = node.label_at("session_id") or ""
    agent = node.need("agent")
    known = picked(agent.members(), ("name", "version", "model_name"))
    if "model_name" in known:
        known["model"] = known.pop("model_name")
    chats.offer_tools(builder, agent.items_at("tool_definitions"))
    builder.origin.update(picked(node.members(), ("schema_version", "notes", "final_metrics")))
    builder.head = replace(builder.head, agent=known, session=node.label_at("session_id") or "")
    about = _ours(node)
    if about is not None:
        take_about(about, builder)
    subs = dict[str, JsonNode]()
    _steps(node, builder, subs)
    while subs:
        _, sub = subs.popitem()
        builder.lose(sub, "nothing says which call started this sub-agent; what it did stands at the end")
        with builder.aside():
            _steps(sub, builder, subs)
    builder.spend(node.get("final_metrics"))
    name = names.unique(stem(node.path), node.label_at("trajectory_id") or session)
    return builder.finish(name, *_end(node, builder))


def _steps(node: JsonNode, builder: SessionBuilder, subs: dict[str, JsonNode]) -> None:
    """Add the steps of a trajectory; those of ``subs`` that they name are added, and taken out of it, on the way."""
    subs.update({_named(sub): sub for sub in node.items_at("subagent_trajectories")})
    copied = 0
    for step in node.need("steps").items():
        if step.members().get("is_copied_context") is True:
            copied += 1
        else:
            _step(step, builder, subs)
    if copied:
        builder.lose(f"steps ({copied})", "steps copied from an earlier trajectory were left out")


def _named(node: JsonNode) -> str:
    return node.label_at("trajectory_id") or node.label_at("session_id") or node.where


def _ours(holder: JsonNode) -> JsonNode | None:
    """Read what our exporter keeps in ``extra``."""
    extra = holder.object_at("extra")
    return extra.object_at(OURS) if extra else None


def _step(step: JsonNode, builder: SessionBuilder, subs: dict[str, JsonNode]) -> None:
    source, text = step.need("source").string(), joined(step.get("message"), builder)
    about, stamp = _ours(step), step.members().get("timestamp")
    if source == "agent":
        thought, own_calls = step.string_at("reasoning_content") or "", step.items_at("tool_calls")
        builder.note(thought, "reasoning", stamp=stamp)
        if own_calls:
            seen_by: list[Role] = [role_in(item, "agent") for item in about.items_at("visible_to")] if about else []
            builder.note(text, "text", stamp=stamp, seen_by=seen_by or ("agent",))
            batch = builder.batch()
            for call in own_calls:
                _call(call, batch, stamp, builder)
        elif text or about is not None or not (thought or step.get("observation")):
            _say(builder, about, "agent", "user", text, stamp)
    elif source in {"system", "user"}:
        usual: Role = "user" if source == "user" else "system"
        _say(builder, about, usual, "agent", text, stamp)
    else:
        builder.lose(step, f"a step of the unknown source {source!r} was dropped")
        return
    # Calls that the agent did not make, for which ATIF has no place
    calls = about.items_at("calls") if about is not None else []
    batch = builder.batch() if calls else ""
    for call in calls:
        _call(call, batch, stamp, builder, role_in(call.get("caller"), "user"))
    _observe(step, builder, subs)


def _say(
    builder: SessionBuilder, about: JsonNode | None, sender: Role, recipient: Role, text: str, stamp: object
) -> None:
    """Add a message; our exporter tells where one is unlike what ATIF can say."""
    if about is None:
        builder.say(sender, recipient, text, stamp=stamp)
    elif about.members().get("silent") is not True:
        seen_by: list[Role] = [role_in(item, "agent") for item in about.items_at("visible_to")]
        sender, recipient = role_in(about.get("sender"), sender), role_in(about.get("recipient"), recipient)
        kept = about.string_at("content")  # what the agent never saw stands here and not in the step's message
        builder.say(sender, recipient, text if kept is None else kept, stamp=stamp, seen_by=seen_by)


def _call(call: JsonNode, batch: str, stamp: object, builder: SessionBuilder, caller: Role = "agent") -> None:
    about = _ours(call)
    raw = about.string_at("raw_arguments") if about is not None else None
    given = arguments_of(raw if raw is not None else call.members().get("arguments"))
    name, id_ = call.need("function_name").string(), call.label_at("tool_call_id")
    builder.call(name, given, batch=batch, id_=id_, caller=caller, stamp=stamp)


def _observe(step: JsonNode, builder: SessionBuilder, subs: dict[str, JsonNode]) -> None:
    observation = step.get("observation")
    for result in observation.items_at("results") if observation is not None else []:
        id_ = result.label_at("source_call_id")
        only = step.items_at("tool_calls")
        if id_ is None and len(only) == 1 and builder.find(only[0].label_at("tool_call_id")) is not None:
            builder.lose(result, "a result that names no call was given to the only call of its step")
            id_ = only[0].label_at("tool_call_id")
        references = result.get("subagent_trajectory_ref")
        for reference in references.each() if references is not None else ():
            sub = subs.pop(_named(reference), None)
            if sub is None:
                builder.lose(result, "what a sub-agent did stands in a file of its own")
            else:
                with builder.aside():
                    _steps(sub, builder, subs)
        if id_ is None:
            builder.say("environment", "agent", joined(result.get("content"), builder))
        elif any(result.get(name) is not None for name in ("content", "extra", "subagent_trajectory_ref")):
            about = _ours(result)
            error = about.object_at("error") if about else None
            if error:
                told = error_in(error, joined(result.get("content"), builder))
                outcome = CallOutcome(error=told, stated=True)
            else:
                flag = result.members_at("extra").get("is_error")
                failed = flag if isinstance(flag, bool) else None if about is None else False
                outcome = outcome_of(builder, result.get("content"), failed=failed)
            builder.settle(result, id_, outcome)


def _end(node: JsonNode, builder: SessionBuilder) -> Ending:
    about = _ours(node)
    if about is not None:
        return ending_in(about)
    if node.get("continued_trajectory_ref") is not None:
        builder.lose(node, "the session goes on in another file")
        return None, None
    return ("recorded" if builder.settled else None), None
