"""The original evaluation loop on recorded messages: what it would have executed and counted, its bugs included.

Policy: this is a model of the authors' code, not a rule of right and wrong. Feedback of an earlier step decides whether
``finish`` is accepted, the first call cannot be ``finish``, one message can be several errors, and an observation that
mentions a network error ends the run. No model text is evaluated.
Source: ``toolscan/tool.py`` and ``toolscan/utils/tool/error_utils.py`` of the authors' code.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from sandbox_grader.papers.toolscan.messages import read_literal, split
from sandbox_mcp.engine.bounded import loads

FINISH = "finish"
UNTYPED = ("finish", "check_valid_actions")
"""Actions, in lower case, whose arguments are not checked for their types."""

TYPES: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("str", "enum", "string", "STR", "ENUM", "STRING"), str),
    **dict.fromkeys(("number", "num", "NUMBER", "NUM"), (int, float, complex)),
    **dict.fromkeys(("boolean", "bool", "BOOLEAN", "BOOL"), bool),
    **{kind.__name__: kind for kind in (int, float, list, dict)},
}
"""The type names that the original knows; an argument of any other makes it fail."""

NETWORK_ERRORS = (
    "ConnectionError", "HTTPError", "HTTPSError", "TimeoutError", "SSLError", "ProxyError", "TooManyRedirects",
    "RequestException",
)  # fmt: skip
"""Words that end a run when they occur in an observation."""


@dataclass(frozen=True, slots=True)
class LoopInput:
    """Input of a run: tools, switches, what the tools answered, and whether there is a ground truth."""

    apis: Mapping[str, Any]
    truth: bool = True
    feedback: bool = True
    observations: Sequence[str] = ()
    limit: int = 10


@dataclass(slots=True)
class EpisodeTally:
    """Counts of one run. ``route`` has the distinct inputs executed of each API, ``finish`` left out.

    ``output`` is the answer as text where the run finished; ``stopped`` tells what ended it otherwise. ``steps`` has
    one JSON object per message.
    """

    ifn: int = 0
    ian: int = 0
    iat: int = 0
    ife: int = 0
    rac: int = 0
    missing: int = 0
    route: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    finished: bool = False
    output: str | None = None
    stopped: str | None = None
    steps: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def execute(self, name: str, given: Any) -> None:
        """Note an executed call other than ``finish``: as a repetition, or on the route."""
        done = self.route.setdefault(name, [])
        if given in done:
            self.rac += 1
        else:
            done.append(given)


def cannot_start(apis: Mapping[str, Any]) -> str | None:
    """Reason for which the original cannot even begin with these tools, or None: it looks every type up in a set."""
    for name, api in apis.items():
        for argument, spec in api["parameters"].items() if name.lower() not in UNTYPED else ():
            if isinstance(spec["type"], list | dict):
                return f"argument {argument!r} of {name} has no type by name"
    return None


class _Stopped(Exception):
    """The original's loop ends here because something raised."""


def replay(case: LoopInput, messages: Sequence[str]) -> EpisodeTally:
    """Replay the loop over a model's messages, at most ``case.limit`` of them."""
    loop = _Loop(case, EpisodeTally())
    for number, message in enumerate(messages[: case.limit], start=1):
        step: dict[str, Any] = {"kind": "step", "step": number, "executed": False}
        loop.tally.steps.append(step)
        try:
            loop.step(message, step)
        except _Stopped as stop:
            loop.tally.stopped = step["stopped"] = str(stop)
            break
        if loop.tally.finished:
            break
    return loop.tally


class _Loop:
    """The state between two steps: the last feedback, None after a call without fault."""

    __slots__ = ("_answered", "_case", "_feedback", "_ready", "tally")

    def __init__(self, case: LoopInput, tally: EpisodeTally) -> None:
        self.tally = tally
        self._case = case
        self._feedback: str | None = None
        self._ready = False
        self._answered = 0

    def step(self, message: str, step: dict[str, Any]) -> None:
        """Take one message. Raises Stopped."""
        said = split(message)
        if said is None:
            self.tally.ife += 2
            step["fault"] = "format"
            return
        try:
            given: Any = read_literal(said.input)
        except ValueError:
            self.tally.ife += 1
            given, step["fault"] = said.input, "format"
        step |= {"name": said.name, "arguments": _plain(given)}
        if not said.name:
            self.tally.ife += 1
            return
        if said.name != FINISH:
            self._feedback = self._check(said.name, given)
            self._ready = True
        elif self._case.feedback and not self._ready:
            raise _Stopped("finish before any other call")
        if self._case.feedback and self._feedback is not None:
            step["feedback"] = observation = self._feedback
            finished = False
        else:
            step["executed"] = True
            observation, finished = self._execute(said.name, given)
        if any(word in observation for word in NETWORK_ERRORS):
            raise _Stopped(observation)
        self.tally.finished = finished
        self.tally.output = observation if finished else None

    def _execute(self, name: str, given: Any) -> tuple[str, bool]:
        if name == FINISH:  # without an answer the tool itself fails, and the run goes on
            try:
                answer = given["answer"]
                return str(sorted(cast("list[Any]", answer)) if isinstance(answer, list) else answer), True
            except (TypeError, KeyError) as error:
                return f"{type(error).__name__}: {error}", False
        later = self._case.observations[self._answered :]
        self._answered += 1
        self.tally.execute(name, given)
        return (later[0] if later else ""), "finish" in name or "Finish" in name

    def _check(self, name: str, given: Any) -> str | None:
        """Count the faults of a call and say the first of them, or None. Raises Stopped."""
        try:
            unknown, missing, mistyped = self._faults(name, given)
        except (TypeError, KeyError) as error:
            raise _Stopped(f"{type(error).__name__}: {error}") from error
        no_function = name not in self._case.apis and name.lower() != FINISH
        self.tally.ifn += no_function
        self.tally.ian += bool(unknown or missing)
        self.tally.iat += bool(mistyped)
        self.tally.missing += bool(missing)
        if no_function:
            return f"no function {name}; there are {', '.join(self._case.apis)}"
        if unknown:
            return f"{name} has no argument {', '.join(map(str, unknown))}; it has {', '.join(self._parameters(name))}"
        if missing:
            return f"{name} lacks {', '.join(missing)}"
        return f"{name} has arguments of the wrong type: {', '.join(mistyped)}" if mistyped else None

    def _faults(self, name: str, given: Any) -> tuple[list[Any], list[str], list[str]]:
        if not self._case.truth:
            raise TypeError("there is no ground truth")
        if name not in self._case.apis:
            return [], [], []
        parameters = self._parameters(name)
        typed = name.lower() not in UNTYPED
        unknown = [item for item in given if item not in parameters]
        missing = [item for item, spec in parameters.items() if spec["required"] and item not in given]
        known = [item for item in given if typed and item in parameters]
        return unknown, missing, [item for item in known if not _is_a(given[item], parameters[item]["type"])]

    def _parameters(self, name: str) -> Mapping[str, Any]:
        return self._case.apis[name]["parameters"]


def _is_a(value: Any, kind: str) -> bool:
    if kind not in TYPES:
        raise TypeError(f"unknown type {kind!r}")
    return isinstance(value, TYPES[kind])


def _plain(value: Any) -> Any:
    """A literal as JSON, for reports."""
    try:
        text = json.dumps(value, default=repr, allow_nan=False, ensure_ascii=False)
        return loads(text.encode("utf-8", "replace"))
    except (TypeError, ValueError):
        return repr(value)
