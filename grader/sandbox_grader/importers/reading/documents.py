"""Finds the conversations in a file of a model provider's messages, whichever way they were put there.

Policy: a file is one array of items; or an object that holds them, as a request does; or an array or JSON Lines of
either. JSON Lines of bare items are one conversation.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sandbox_grader.importers.reading.json_values import JsonNode, Loaded


@dataclass(frozen=True, slots=True)
class ConversationItems:
    """The items of one conversation, or the object that holds them."""

    holder: JsonNode | None = None
    items: list[JsonNode] = field(default_factory=list[JsonNode])


def conversations(loaded: Loaded, is_item: Callable[[JsonNode], bool]) -> Iterator[ConversationItems]:
    """Each conversation of a file."""
    if loaded.lines and all(is_item(node) for node in loaded.nodes):
        yield ConversationItems(items=list(loaded.nodes))
        return
    for node in loaded.nodes:
        if not node.is_array:
            yield ConversationItems(node)
        elif is_item(node.items()[0]):
            yield ConversationItems(items=node.items())
        else:
            for inner in node.items():
                yield ConversationItems(items=inner.items()) if inner.is_array else ConversationItems(inner)


def is_message(node: JsonNode) -> bool:
    """Whether a value is a message: an object with a role, that holds no conversation itself."""
    return node.is_object and "role" in node.members() and "messages" not in node.members()
