"""Finds the conversations in a file of a model provider's messages, whichever way they were put there.

Policy: a file is one array of items; or an object that holds them, as a request does; or an array or JSON Lines of
either. JSON Lines of bare items are one conversation.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sandbox_grader.errors import NothingToImportError
from sandbox_grader.importers.base import Faults, Imported
from sandbox_grader.importers.reading.build import Ending, Names, SessionBuilder, stem
from sandbox_grader.importers.reading.json_values import JsonNode, Loaded, load


@dataclass(frozen=True, slots=True)
class ConversationItems:
    """The items of one conversation, or the object that holds them."""

    holder: JsonNode | None = None
    items: list[JsonNode] = field(default_factory=list[JsonNode])

    def empty(self, path: Path, problem: str) -> NothingToImportError:
        """The error that says that there is no session here; the caller raises it."""
        first = self.holder or next(iter(self.items), None)
        return NothingToImportError(str(path), None, problem) if first is None else first.empty(problem)


def conversations(loaded: Loaded, is_item: Callable[[JsonNode], bool]) -> Iterator[ConversationItems]:
    """Each conversation of a file."""
    if loaded.lines and all(is_item(node) for node in loaded.nodes):
        yield ConversationItems(items=list(loaded.nodes))
        return
    for node in loaded.nodes:
        items = node.each()
        if node.is_array and is_item(items[0]):
            yield ConversationItems(items=items)
            continue
        for inner in items:
            yield ConversationItems(items=inner.items()) if inner.is_array else ConversationItems(inner)


def read_documents(
    paths: Sequence[Path], format_: str, session: Callable[[JsonNode, SessionBuilder, Names], Imported]
) -> Iterator[Imported]:
    """A session per document; a file holds one, or one a line.

    Raises:
        ImportFormatError: ``session`` cannot read a document.
    """
    names = Names()
    for path in paths:
        loaded, faults = load(path), Faults()
        for node in loaded.nodes:
            with faults.aside():
                yield session(node, SessionBuilder(format_, path.name, "", loaded.losses), names)
        faults.tell()


def exchange_in(holder: JsonNode) -> tuple[JsonNode, JsonNode]:
    """The request and the response that an object holds, each under its own member or both merged into the object."""
    request = holder.get("request") or holder.get("responses_create_params")
    return request or holder, holder.get("response") or holder


TASKS = ("example_id", "task_id", "task_index", "_ng_task_index", "_task_index", "problem_id")
"""Members by which an object that holds one of several conversations tells which task it was."""


class TaskNames:
    """Names what the conversations of one file are trials of: their task where they tell it, else their opening."""

    def __init__(self, path: Path, several: bool) -> None:
        self._stem, self._several = stem(path), several
        self._openings: dict[str, int] = {}

    def name(self, builder: SessionBuilder, holder: JsonNode | None) -> None:
        """Name the scenario of a session, unless it names it itself, and keep the reward that stands beside it."""
        reward = holder.members().get("reward") if holder is not None else None
        if isinstance(reward, int | float):
            builder.origin["reward"] = float(reward)
        if not self._several or builder.head.scenario != self._stem:
            return
        members = holder.members() if holder is not None else {}
        told = next((str(members[name]) for name in TASKS if isinstance(members.get(name), str | int)), None)
        number = self._openings.setdefault(told or builder.opening, len(self._openings) + 1)
        builder.head = replace(builder.head, scenario=f"{self._stem}/{told or number}")


def is_message(node: JsonNode) -> bool:
    """True if a value is a message: an object with a role, that holds no conversation itself."""
    return node.is_object and "role" in node.members() and "messages" not in node.members()


def read_messages(
    paths: Sequence[Path],
    format_: str,
    play: Callable[[SessionBuilder, list[JsonNode]], None],
    play_holder: Callable[[SessionBuilder, JsonNode], Ending | None],
) -> Iterator[Imported]:
    """A session per conversation, which ends where the agent has had the last word.

    ``play`` adds messages to a session, ``play_holder`` the object that holds them, with whatever else it tells; it
    gives how the session ended, where the object says so.

    Raises:
        ImportFormatError: a file holds no messages.
    """
    names = Names()
    for path in paths:
        loaded, faults = load(path), Faults()
        found = list(conversations(loaded, is_message))
        tasks = TaskNames(path, len(found) > 1)
        for conversation in found:
            with faults.aside():
                builder = SessionBuilder(format_, str(path), stem(path), loaded.losses)
                holder, told, given = conversation.holder, None, ""
                play(builder, conversation.items)
                if holder is not None:
                    told, given = play_holder(builder, holder), holder.label_at("id") or ""
                if builder.last is None:
                    raise conversation.empty(path, "holds a conversation without messages")
                tasks.name(builder, holder)
                ending = told or ("recorded" if builder.whole and not loaded.cut else None, None)
                yield builder.finish(names.unique(stem(path), given), *ending)
        faults.tell()
