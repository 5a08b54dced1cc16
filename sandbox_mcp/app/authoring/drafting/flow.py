"""Sources of values: the argument, or the part of a reply, that an earlier call returned.

Policy: what the user has said the agent has from the user. Anything else that an earlier call returned comes from
there, the latest first. Small numbers and booleans are alike by chance, so they flow only under the same name.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sandbox_grader.grading.values import is_array, is_object
from sandbox_scenarios.filling import as_text

from sandbox_mcp.app.authoring.drafting.story import DraftStory, StoryStep, leaves
from sandbox_mcp.app.authoring.drafting.words import free_name

SMALL, SHORT = 31, 3
"""Whole numbers up to this and texts shorter than this may be alike by chance."""
_NO_LABEL = re.compile(r"[^\w-]+")
"""What the names of tools may have, and labels may not."""
FEW = 4
"""So many values in a result leave no doubt about its one number."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")


@dataclass(frozen=True, slots=True)
class Ref:
    """A value in the result of a step."""

    step: int
    path: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ToldValue:
    """A value from a result in a reply: as it is written there, and with how many decimals if it was rounded."""

    ref: Ref
    value: Any
    written: str
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """Sources of the values in a story's calls and replies.

    ``arguments`` has for each step the arguments that come from results of earlier ones. ``parts`` has the places
    inside lists and objects that do, each a path with the argument's name first. ``replies`` has the agent's text in
    each turn, with placeholders for values, and ``told`` what fills them. ``labels`` has a name for each step that
    something comes from.
    """

    arguments: tuple[Mapping[str, Ref], ...]
    parts: tuple[Mapping[tuple[str | int, ...], Ref], ...]
    replies: tuple[str, ...]
    told: tuple[tuple[ToldValue, ...], ...]
    labels: Mapping[int, str]

    def reference(self, ref: Ref) -> str:
        """``label.path``, as solutions refer to it."""
        return ".".join((self.labels[ref.step], *map(str, ref.path)))

    def sources(self, step: int) -> frozenset[int]:
        """The steps whose results a step uses."""
        return frozenset(ref.step for ref in (*self.arguments[step].values(), *self.parts[step].values()))

    def filled(self, step: int, path: tuple[str | int, ...], value: Any) -> Any:
        """A part of an argument with references in place of what comes from results."""
        if path in self.parts[step]:
            return f"${self.reference(self.parts[step][path])}"
        if is_object(value):
            return {key: self.filled(step, (*path, key), item) for key, item in value.items()}
        if is_array(value):
            return [self.filled(step, (*path, place), item) for place, item in enumerate(value)]
        return value

    @property
    def used(self) -> frozenset[int]:
        """The steps whose results something uses, rounded or not."""
        told = {item.ref.step for items in self.told for item in items}
        return frozenset(self.labels) | told


def flow_of(story: DraftStory) -> Flow:
    """Trace the values of a story."""
    refs = [_refs(story, step) for step in story.steps]
    arguments, parts = tuple(own for own, _ in refs), tuple(inside for _, inside in refs)
    told = tuple(tuple(_told(story, turn)) for turn in range(len(story.turns)))
    exact = [[item for item in items if item.decimals is None] for items in told]
    used = {ref.step for found in (*arguments, *parts) for ref in found.values()}
    labels: dict[int, str] = {}
    for number in sorted(used | {item.ref.step for items in exact for item in items}):
        word = _NO_LABEL.sub("_", story.steps[number].tool.name.split("_")[-1])
        stem = word if word[:1].isalpha() else f"call_{word}"
        labels[number] = free_name(stem, labels.values())
    flow = Flow(arguments, parts, (), told, labels)
    replies: list[str] = []
    for turn, items in zip(story.turns, exact, strict=True):
        reply = turn.reply
        for item in sorted(items, key=lambda item: -len(item.written)):
            place = "${" + flow.reference(item.ref) + "}"
            reply = re.sub(rf"(?<![\w.$]){re.escape(item.written)}(?!\w)", lambda _, place=place: place, reply, count=1)
        replies.append(reply)
    return replace(flow, replies=tuple(replies))


def _refs(story: DraftStory, step: StoryStep) -> tuple[Mapping[str, Ref], Mapping[tuple[str | int, ...], Ref]]:
    """The arguments of a step that come from results, and the values inside its lists and objects that do."""
    said = story.said_until(step.turn)
    before = [item for item in story.steps[: step.number] if item.event.batch != step.event.batch]
    arguments: dict[str, Ref] = {}
    for name, value in step.event.arguments.items():
        if ref := _source(before, name, value, said):
            arguments[name] = ref
    parts: dict[tuple[str | int, ...], Ref] = {}
    for path, leaf in leaves(step.event.arguments):
        name = next(str(part) for part in reversed(path) if isinstance(part, str))
        if len(path) > 1 and (ref := _source(before, name, leaf, said)):
            parts[path] = ref
    return arguments, parts


def _source(before: list[StoryStep], name: str, value: Any, said: str) -> Ref | None:
    """Source of an argument; of several places in one result, the one of its own name."""
    if says(said, value):
        return None
    for step in reversed(before):
        same = [
            path
            for path, leaf in leaves(step.result)
            if leaf == value
            and isinstance(leaf, bool) is isinstance(value, bool)
            and (telling(value) or (path[-1:] == (name,) and not isinstance(value, bool)))
        ]
        if same:
            return Ref(step.number, next((path for path in same if path[-1:] == (name,)), same[0]))
    return None


def says(text: str, value: Any) -> bool:
    """True if a text has a value in it, word for word."""
    if isinstance(value, bool) or value is None:
        return False
    wanted = as_text(value)
    if isinstance(value, float) and value.is_integer():
        wanted = str(int(value))
    return bool(wanted) and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text, re.IGNORECASE) is not None


def telling(value: Any) -> bool:
    """True if two equal values of this kind are the same value."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return abs(value) > SMALL or not float(value).is_integer()
    return isinstance(value, str) and len(value) >= SHORT


def _only_number(step: StoryStep, value: Any) -> bool:
    """True if a result of few values has this number and no other, so that whoever reports one reports this one."""
    found = [leaf for _, leaf in leaves(step.result)]
    return len(found) <= FEW and [leaf for leaf in found if type(leaf) in (int, float)] == [value]


def _told(story: DraftStory, turn: int) -> Iterator[ToldValue]:
    """Values that a reply takes from results, in the order of the reply; longer before shorter, new before old."""
    reply, said = story.turns[turn].reply, story.said_until(turn)
    free = reply
    steps = [step for step in story.steps if step.turn <= turn]
    found: list[tuple[int, ToldValue]] = []
    answering = {step.number for step in steps if step.turn == turn}
    fresh = [
        ToldValue(Ref(step.number, path), leaf, as_text(leaf))
        for step in steps
        for path, leaf in leaves(step.result)
        if (telling(leaf) or (step.number in answering and _only_number(step, leaf))) and not says(said, leaf)
    ]
    for item in sorted(fresh, key=lambda item: (-len(item.written), -item.ref.step)):
        match = re.search(rf"(?<![\w-]){re.escape(item.written)}(?!\w)", free)
        if match:
            free = free[: match.start()] + "\0" * len(match[0]) + free[match.end() :]
            found.append((match.start(), item))
    found += _rounded(free, steps, said)
    yield from (item for _, item in sorted(found, key=lambda pair: pair[0]))


def _rounded(text: str, steps: list[StoryStep], said: str) -> Iterator[tuple[int, ToldValue]]:
    """Numbers in a text that are results with fewer decimals."""
    for match in _NUMBER.finditer(text):
        decimals = len(match[0].partition(".")[2])
        for step in reversed(steps):
            near = (
                ToldValue(Ref(step.number, path), leaf, match[0], decimals)
                for path, leaf in leaves(step.result)
                if isinstance(leaf, float) and telling(leaf) and f"{leaf:.{decimals}f}" == match[0]
            )
            first = next(near, None)
            if first and not says(said, match[0]):
                yield match.start(), first
                break
