"""Where values come from: which argument, and which part of a reply, is what an earlier call returned.

Policy: what the user has said the agent has from the user. Anything else that an earlier call returned comes from
there, the latest first. Small numbers and booleans are alike by chance, so they flow only under the same name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_grader.values import is_array, is_object
from sandbox_scenarios.filling import as_text

from sandbox_mcp.authoring.drafting.story import Story, StoryStep, leaves

SMALL, SHORT = 31, 3
"""Whole numbers up to this and texts shorter than this may be alike by chance."""
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
    """The flow of a story.

    ``arguments`` has for each step the arguments that come from results, ``parts`` the places inside lists and objects
    that do, with the argument's name first. ``replies`` has for each turn the text with placeholders, ``told`` what
    stands in their place, ``labels`` a name for each step that something comes from.
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


def flow_of(story: Story) -> Flow:
    """Trace the values of a story."""
    arguments = tuple(_argument_refs(story, step) for step in story.steps)
    parts = tuple(_part_refs(story, step) for step in story.steps)
    told = tuple(tuple(_told(story, turn)) for turn in range(len(story.turns)))
    exact = [item.ref for items in told for item in items if item.decimals is None]
    refs = [*(ref for found in (*arguments, *parts) for ref in found.values()), *exact]
    labels = _labels(story, sorted({ref.step for ref in refs}))
    flow = Flow(arguments, parts, (), told, labels)
    replies = tuple(_with_placeholders(turn.reply, told[n], flow) for n, turn in enumerate(story.turns))
    return Flow(arguments, parts, replies, told, labels)


def _argument_refs(story: Story, step: StoryStep) -> Mapping[str, Ref]:
    said, before = story.said_until(step.turn), _before(story, step)
    found = {name: _source(before, name, value, said) for name, value in step.event.arguments.items()}
    return {name: ref for name, ref in found.items() if ref is not None}


def _part_refs(story: Story, step: StoryStep) -> Mapping[tuple[str | int, ...], Ref]:
    """The values inside lists and objects that come from results."""
    said, before = story.said_until(step.turn), _before(story, step)
    inside = {path: leaf for path, leaf in leaves(step.event.arguments) if len(path) > 1}
    names = {path: next(str(name) for name in reversed(path) if isinstance(name, str)) for path in inside}
    found = {path: _source(before, names[path], leaf, said) for path, leaf in inside.items()}
    return {path: ref for path, ref in found.items() if ref is not None}


def _before(story: Story, step: StoryStep) -> list[StoryStep]:
    return [item for item in story.steps[: step.number] if item.event.batch != step.event.batch]


def _source(before: list[StoryStep], name: str, value: Any, said: str) -> Ref | None:
    if says(said, value):
        return None
    for step in reversed(before):
        same = [path for path, leaf in leaves(step.result) if _equal(leaf, value) and _telling(value, path, name)]
        if same:
            return Ref(step.number, next((path for path in same if path[-1:] == (name,)), same[0]))
    return None


def says(text: str, value: Any) -> bool:
    """Whether a text has a value in it, word for word."""
    if isinstance(value, bool) or value is None:
        return False
    wanted = as_text(value)
    if isinstance(value, float) and value.is_integer():
        wanted = str(int(value))
    return bool(wanted) and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text, re.IGNORECASE) is not None


def _equal(leaf: Any, value: Any) -> bool:
    return leaf == value and isinstance(leaf, bool) is isinstance(value, bool)


def _telling(value: Any, path: tuple[str | int, ...], name: str) -> bool:
    """Whether a value is so special that being equal is not chance."""
    if path[-1:] == (name,) and not isinstance(value, bool):
        return True
    return telling(value)


def telling(value: Any) -> bool:
    """Whether two equal values of this kind are the same value."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return abs(value) > SMALL or not float(value).is_integer()
    return isinstance(value, str) and len(value) >= SHORT


def _told(story: Story, turn: int) -> Iterator[ToldValue]:
    """What a reply takes from results, in the order in which it stands there; longer before shorter, new before old."""
    reply, said = story.turns[turn].reply, story.said_until(turn)
    free = reply
    steps = [step for step in story.steps if step.turn <= turn]
    found: list[tuple[int, ToldValue]] = []
    for item in sorted(_candidates(steps, said), key=lambda item: (-len(item.written), -item.ref.step)):
        match = re.search(rf"(?<!\w){re.escape(item.written)}(?!\w)", free)
        if match:
            free = free[: match.start()] + "\0" * len(match[0]) + free[match.end() :]
            found.append((match.start(), item))
    found += _rounded(free, steps, said)
    yield from (item for _, item in sorted(found, key=lambda pair: pair[0]))


def _candidates(steps: Iterable[StoryStep], said: str) -> Iterator[ToldValue]:
    for step in steps:
        for path, leaf in leaves(step.result):
            if telling(leaf) and not says(said, leaf):
                yield ToldValue(Ref(step.number, path), leaf, as_text(leaf))


def _rounded(text: str, steps: list[StoryStep], said: str) -> Iterator[tuple[int, ToldValue]]:
    """Numbers in a text that are results with fewer decimals."""
    for match in _NUMBER.finditer(text):
        decimals = len(match[0].partition(".")[2])
        for step in reversed(steps):
            near = [
                (path, leaf)
                for path, leaf in leaves(step.result)
                if isinstance(leaf, float) and telling(leaf) and f"{leaf:.{decimals}f}" == match[0]
            ]
            if near and not says(said, match[0]):
                path, leaf = near[0]
                yield match.start(), ToldValue(Ref(step.number, path), leaf, match[0], decimals)
                break


def _labels(story: Story, steps: Iterable[int]) -> Mapping[int, str]:
    labels: dict[int, str] = {}
    for number in steps:
        name = story.steps[number].tool.name.split("_")[-1]
        same = sum(label.rstrip("0123456789_") == name for label in labels.values())
        labels[number] = f"{name}_{same + 1}" if same else name
    return labels


def _with_placeholders(reply: str, told: Iterable[ToldValue], flow: Flow) -> str:
    text = reply
    for item in sorted(told, key=lambda item: -len(item.written)):
        if item.decimals is None:
            place = "${" + flow.reference(item.ref) + "}"
            text = re.sub(rf"(?<![\w.$]){re.escape(item.written)}(?!\w)", lambda _, place=place: place, text, count=1)
    return text
