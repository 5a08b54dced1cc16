"""Builds one session from what an importer finds: order, ids, pairing of results, virtual time, losses.

Policy, the same for every format:
- Text beside tool calls is not a reply. It is kept as a note of the agent to itself, as is its reasoning, also where
  the model wrote that into its answer. What a host says in the user's place comes from the system.
- A result goes to the open call of its id in the latest batch that has one, because ids need not be unique.
- Virtual time is the source's where it has times, else the number of the event. The times as written are in ``wall``.
- Token counts stand with what the agent did last; where none are told, none are known.
"""

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sandbox_grader.importers.base import Imported, Loss
from sandbox_grader.importers.reading.json_values import JsonNode, shown
from sandbox_grader.importers.reading.manners import (
    carried_in,
    cost_in,
    failure_in,
    speakers_in,
    tokens_in,
    words_of,
)
from sandbox_grader.importers.reading.values import Given, arguments_of, canonical, decode, failure, seconds, zoned
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.talk.text import parted
from sandbox_mcp.engine.trajectory import (
    CallError,
    EndReason,
    ErrorKind,
    Event,
    Message,
    ReferenceCall,
    ReferenceTurn,
    Role,
    SessionEnded,
    SessionStarted,
    ToolCall,
    ToolSpec,
)  # fmt: skip

GUESSED = (
    "the format has no error flag; results that begin as hosts, SDKs and Python write failures were taken for some"
)
Ending = tuple[EndReason | None, str | None]
"""How a session ended, and what is to be told of it; without a reason the source does not show that it ended."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Outcome of a call: a result or an error, and what else is known of it.

    ``stated`` tells that the source itself says what kind of error it was, so that nothing is left to conclude.
    """

    result: Any = None
    error: CallError | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    wall: Mapping[str, Any] = field(default_factory=dict[str, Any])
    stated: bool = False


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call whose result is still to come: its place among the events, its id in the source, and its batch."""

    index: int
    id: str | None
    name: str
    batch: str


class Names:
    """Names for the sessions of one import, unique also where file names ignore case."""

    __slots__ = ("_next", "_taken")

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def unique(self, *parts: str) -> str:
        """A name made of the parts, fit for a file name, that has not been given before."""
        base = "-".join(filter(None, (_slug(part) for part in parts)))[:100] or "session"
        name, number = base, self._next.get(base.casefold(), 2)
        while name.casefold() in self._taken:
            name, number = f"{base}-{number}", number + 1
        self._taken.add(name.casefold())
        self._next[base.casefold()] = number
        return name


def _slug(text: str) -> str:
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "._") else "-" for char in text)
    return "-".join(filter(None, kept.split("-"))).strip("._")


class SessionBuilder:
    """Collects what an importer finds of one session and puts it into our form."""

    __slots__ = (
        "_aside", "_batches", "_certain", "_checked", "_early", "_events", "_free", "_guessed", "_ids", "_naive",
        "_open", "_spent", "_times", "_tools", "_undeclared", "head", "losses", "origin",
    )  # fmt: skip

    def __init__(self, format_: str, file: str, scenario: str, losses: Sequence[Loss] = ()) -> None:
        self.head = SessionStarted(session="", scenario=scenario)
        self.origin: dict[str, Any] = {"format": format_, "file": file}
        self.losses: list[Loss] = list(losses)
        self._events: list[Message | ToolCall] = []
        self._times: list[float | None] = []
        self._spent: dict[str, float] = {}
        self._open: list[OpenCall] = []
        self._early: dict[str, tuple[str | JsonNode, CallOutcome]] = {}
        self._ids: dict[str, int] = {}
        self._certain: set[int] = set()
        self._free: set[int] = set()
        self._tools: dict[str, ToolSpec] = {}
        self._batches = 0
        self._aside = False
        self._undeclared: set[str] = set()
        self._guessed = self._checked = self._naive = 0

    @contextmanager
    def aside(self, *, really: bool = True) -> Generator[None]:
        """While the context is open a sub-agent acts: its calls are the agent's, its words stand between the two."""
        before, self._aside = self._aside, really
        yield
        self._aside = before

    # -- what was said --------------------------------------------------------------------------------------------

    def say(
        self,
        sender: Role,
        recipient: Role,
        content: str,
        *,
        stamp: Any = None,
        seen_by: Sequence[Role] = (),
        **meta: Any,
    ) -> None:
        """Add a message, visible to its sender and recipient unless ``seen_by`` names others."""
        if (sender, recipient) == ("user", "agent"):
            *before, (content, hosts) = speakers_in(content)
            for text, of_host in before:
                self._add(
                    "system" if of_host else "user", "agent", text, stamp, (), {"kind": "host"} if of_host else {}
                )
            sender, meta = ("system", {**meta, "kind": "host"}) if hosts else (sender, meta)
        elif sender == "agent" and meta.get("kind") != "reasoning":
            thought, content = parted(content)
            self.note(thought, "reasoning", stamp=stamp)
            if thought and not content and recipient == "agent":
                return
        self._add(sender, recipient, content, stamp, seen_by, meta)

    def _add(
        self, sender: Role, recipient: Role, content: str, stamp: Any, seen_by: Sequence[Role], meta: Mapping[str, Any]
    ) -> None:
        if self._aside:
            sender, recipient, seen_by = "agent", "agent", ("agent",)
            meta = {"kind": "sub-agent", **meta}
        seq, wall = self._next(stamp)
        visible = tuple(dict.fromkeys(seen_by or (sender, recipient)))
        self._events.append(
            Message(
                seq=seq, clock=0.0, sender=sender, recipient=recipient, content=content, visible_to=visible,
                meta=meta, wall=wall,
            )
        )  # fmt: skip

    def note(self, text: str, kind: str, *, stamp: Any = None, seen_by: Sequence[Role] = ("agent",)) -> None:
        """Add what the agent wrote for itself, if anything: ``reasoning``, or the ``text`` beside its calls."""
        if text.strip():
            self.say("agent", "agent", text, stamp=stamp, seen_by=seen_by, kind=kind)

    def write(self, text: str, *, calls: bool, stamp: Any = None) -> None:
        """Add what the agent wrote: a message to the user, or a note where it calls tools beside it."""
        if calls:
            self.note(text, "text", stamp=stamp)
        else:
            self.say("agent", "user", text, stamp=stamp)

    # -- what was called ------------------------------------------------------------------------------------------

    def batch(self) -> str:
        """The name of a new batch of calls."""
        self._batches += 1
        return f"b{self._batches}"

    def call(
        self,
        name: str,
        given: Given,
        *,
        batch: str,
        id_: str | None = None,
        caller: Role = "agent",
        stamp: Any = None,
        offered: bool = False,
        **meta: Any,
    ) -> OpenCall:
        """Add a call. Its result is missing until :meth:`settle` or :meth:`answer` gives it.

        ``offered`` tells that the tool was there, whether it is among the definitions or not. A call of a host's tool
        that calls another one by its name is a call of that one.
        """
        seq, wall = self._next(stamp)
        through = name
        if (carried := carried_in(name, given.arguments)) is not None:
            name, given, offered = carried[0], arguments_of(carried[1]), True
            meta["through"] = through
        wanted = unique = id_ or f"call-{seq}"
        number = self._ids.get(wanted, 2)
        while unique in self._ids:
            unique, number = f"{wanted}#{number}", number + 1
        self._ids[wanted] = number
        self._ids.setdefault(unique, 2)
        if unique != id_:
            meta["call_id"] = id_
        if self._aside:
            meta["kind"] = "sub-agent"
        call = ToolCall(
            seq=seq, clock=0.0, call=unique, batch=batch, caller=caller, name=name, tool=canonical(name),
            arguments=given.arguments, raw_arguments=given.raw, meta=meta, wall=wall,
        )  # fmt: skip
        opened = OpenCall(len(self._events), id_, through, batch)
        if offered:
            self._certain.add(opened.index)
        if given.free:
            self._free.add(opened.index)
        self._events.append(call)
        self._open.append(opened)
        if id_ in self._early:
            self.answer(opened, self._early.pop(id_)[1])
        return opened

    def answer(self, opened: OpenCall, outcome: CallOutcome) -> None:
        """Give an open call its outcome."""
        call = self._events[opened.index]
        error = outcome.error
        does = "cancel" in opened.name.casefold()  # "Cancelled" tells what such a tool is there for
        if does and error and not outcome.stated and re.fullmatch(r"cancell?ed\.?\s*", error.message.lower()):
            outcome = replace(outcome, result=error.message, error=None)
        if outcome.stated:
            self._certain.add(opened.index)
        if isinstance(call, ToolCall):
            self._events[opened.index] = replace(
                call, result=outcome.result, error=outcome.error,
                meta={**call.meta, **outcome.meta}, wall={**call.wall, **outcome.wall},
            )  # fmt: skip
        self._open = [other for other in self._open if other is not opened]  # an early result may have answered it

    def settle(self, where: str | JsonNode, id_: str | None, outcome: CallOutcome, *, name: str | None = None) -> None:
        """Give an outcome to the open call it belongs to, or name it as a loss where no open call fits."""
        opened = self.find(id_, name)
        if opened is None and id_ is None and name is None:
            self.lose(where, "a result that does not say of which call it is was dropped")
        elif opened is None and id_ is not None and id_ not in self._ids:
            self._early[id_] = (where, outcome)  # its call may stand behind it
        elif opened is None:
            self.lose(where, f"a result of {shown(id_ or name)}, of which no call is open, was dropped")
        else:
            self.answer(opened, outcome)

    def find(self, id_: str | None, name: str | None = None) -> OpenCall | None:
        """The open call of that id, or without an id of that name: the first one in the latest batch that has one.

        With neither it is the first open call of the latest batch, if nothing else has happened since and there is only
        one, or none of them has an id.
        """
        if id_ is None and name is None:
            last = self._open[-1] if self._open else None
            if last is None or last.index != len(self._events) - 1:
                return None
            batch = [call for call in self._open if call.batch == last.batch]
            return batch[0] if len(self._open) == 1 or all(call.id is None for call in batch) else None
        fitting = [call for call in self._open if (call.name == name if id_ is None else call.id == id_)]
        return next((call for call in fitting if call.batch == fitting[-1].batch), None)

    def judge(self, text: str, failed: bool | None) -> CallOutcome:
        """The outcome that a result text tells. ``failed`` is the source's flag, None where it has none."""
        value = decode(text)
        kind: ErrorKind = "execution"
        if failed is None:
            self._checked += 1
            guess = failure_in(text, value)
            failed, kind = guess is not None, guess or kind
            self._guessed += failed
        return CallOutcome(error=failure(words_of(value) or text, kind)) if failed else CallOutcome(result=value)

    def spend(self, usage: JsonNode | None, *, requests: int = 1) -> None:
        """Count the tokens, and the cost, that an account of the provider tells of."""
        members = usage.members() if usage is not None and usage.is_object else {}
        cost = cost_in(members)
        for name, number in {
            **(tokens_in(members, requests) or {}),
            **({} if cost is None else {"cost": cost}),
        }.items():
            self._spent[name] = self._spent.get(name, 0) + number

    # -- what is known besides ------------------------------------------------------------------------------------

    def lose(self, where: str | JsonNode, what: str) -> None:
        """Name something that our form does not hold."""
        if not isinstance(where, str):
            line = f"line {where.line}" if where.line else ""
            where = ", ".join(filter(None, (line, where.where))) or "document"
        self.losses.append(Loss(where, what))

    def offer(self, name: str, description: str, schema: Mapping[str, Any], *, action: bool | None = None) -> None:
        """Add a tool that was offered. ``action`` tells whether it changes state, None where the source does not."""
        (self._undeclared.add if action is None else self._undeclared.discard)(name)
        self._tools[name] = ToolSpec(
            name=name, tool=canonical(name), domain="", action=action is not False, description=description,
            input_schema=schema,
        )  # fmt: skip

    def identify(self, name: str, *, tool: str, domain: str = "", action: bool | None = None) -> None:
        """Say what an offered tool really is, where the source tells more than its definition does."""
        known = self._tools.get(name)
        if known is None:
            return
        self._tools[name] = replace(known, tool=tool, domain=domain or known.domain)
        if action is not None:
            self._tools[name] = replace(self._tools[name], action=action)
            self._undeclared.discard(name)

    def refer(self, calls: Sequence[ReferenceCall]) -> None:
        """Add a reference solution known by its calls alone, not by the turns they belong to."""
        self.head = replace(self.head, reference=(*self.head.reference, (ReferenceTurn(calls=tuple(calls)),)))

    @property
    def calls(self) -> list[ToolCall]:
        """The calls so far."""
        return [event for event in self._events if isinstance(event, ToolCall)]

    @property
    def opening(self) -> str:
        """What was said before the agent did anything."""
        own = (getattr(event, "sender", getattr(event, "caller", "")) == "agent" for event in self._events)
        first = next((number for number, agents in enumerate(own) if agents), len(self._events))
        return "\n".join(event.content for event in self._events[:first] if isinstance(event, Message))

    @property
    def whole(self) -> bool:
        """True if the log stops where a conversation may stop: no call is open and the agent has had the last word."""
        own = (event for event in reversed(self._events) if event.meta.get("kind") != "sub-agent")
        last = next(own, None)
        return not self._open and isinstance(last, Message) and (last.sender, last.recipient) == ("agent", "user")

    @property
    def settled(self) -> bool:
        """True if something happened and no call is left open."""
        return bool(self._events) and not self._open

    @property
    def last(self) -> Message | ToolCall | None:
        """Event that happened last."""
        return self._events[-1] if self._events else None

    def finish(self, name: str, end: EndReason | None, detail: str | None = None) -> Imported:
        """The session. ``end`` is None where the source does not show that it ended where the log stops."""
        for id_, (where, _) in self._early.items():
            self.lose(where, f"a result of {shown(id_)}, of which no call is open, was dropped")
        for opened in list(self._open):
            self.answer(opened, CallOutcome(meta={"result_missing": True}))
            self.lose(f"event {opened.index + 1}", f"the result of {opened.name!r} is missing")
        for index, event in enumerate(self._events):
            if isinstance(event, ToolCall):
                self._events[index] = self._concluded(index, event)
        self._keep_what_was_spent()
        self._sum_up(end)
        known = [at for at in self._times if at is not None]
        clocks: list[float] = []
        for number, at in enumerate(self._times, start=1):
            before = clocks[-1] if clocks else known[0] if known else 0.0
            clocks.append(at if at is not None else before if known else float(number))
        started = replace(
            self.head,
            session=self.head.session or name,
            tools=tuple(self._tools.values()),
            clock={"now": known[0] if known else 0.0, "zone": "UTC", "step": 1.0},
            origin={**self.origin, "losses": [{"where": loss.where, "what": loss.what} for loss in self.losses]},
        )
        events: list[Event] = [started]
        events += [replace(event, clock=clock) for event, clock in zip(self._events, clocks, strict=True)]
        if end is not None:
            clock = clocks[-1] if clocks else 0.0
            events.append(SessionEnded(seq=len(self._events) + 1, clock=clock, reason=end, detail=detail))
        return Imported(name, tuple(events), tuple(self.losses))

    # -- the details ----------------------------------------------------------------------------------------------

    def _next(self, stamp: Any) -> tuple[int, dict[str, Any]]:
        """The number and the ``wall`` of the next event; :meth:`finish` sets its clock, once all times are known."""
        at = seconds(stamp)
        self._times.append(at)
        if stamp is None:
            return len(self._times), {}
        if at is None:
            self.lose(f"event {len(self._times)}", f"time {shown(stamp)} is not a time that can be read")
        elif isinstance(stamp, str):
            self._naive += not zoned(stamp)
        return len(self._times), {"time": stamp}

    def _concluded(self, index: int, call: ToolCall) -> ToolCall:
        known = self._tools.get(call.name) if call.caller == "agent" else None
        if known is not None:
            call = replace(call, tool=known.tool)
        if call.error is not None and call.error.kind == "unknown_tool":
            return replace(call, tool=None)
        if call.raw_arguments is not None and call.raw_arguments.strip() and index not in self._free:
            self.lose(f"event {index + 1}", f"the arguments of {call.name!r} cannot be read as an object")
            if call.error is None:  # a call that cannot be read is the format error it is, whatever came of it
                text = "the arguments are no JSON object"
                error = CallError(kind="invalid_format", type="ArgumentFormatError", message=text)
                return replace(call, result=None, error=error, meta={**call.meta, "result": call.result})
        if index in self._certain:
            return call
        if known is None and self._tools and call.caller == "agent":
            if call.error is not None:
                return replace(call, tool=None, error=replace(call.error, kind="unknown_tool"))
            self.lose(f"event {index + 1}", f"{call.name!r} was called without an error but is not among the tools")
        elif call.error is not None and call.error.kind == "execution" and call.raw_arguments is not None:
            return replace(call, error=replace(call.error, kind="invalid_format"))
        return call

    def _keep_what_was_spent(self) -> None:
        """Put the tokens to what the agent did last, where reports look for them."""
        speakers = [event.caller if isinstance(event, ToolCall) else event.sender for event in self._events]
        if self._spent and "agent" in speakers:
            last = len(speakers) - 1 - speakers[::-1].index("agent")
            event = self._events[last]
            self._events[last] = replace(event, meta={**event.meta, "usage": self._spent})

    def _sum_up(self, end: EndReason | None) -> None:
        if not self._tools:
            self.lose("tools", "the definitions of the tools that were offered are absent")
        elif self._undeclared:
            undeclared = counted(len(self._undeclared), "tool")
            self.lose("tools", f"taken to change state, as nothing says otherwise: {undeclared}")
        if self._checked:
            self.lose(f"results ({self._guessed} of {self._checked})", GUESSED)
        if self._naive:
            self.lose("times", f"read as UTC, as no zone is named: {counted(self._naive, 'time')}")
        if end is None:
            self.lose("end", "nothing shows that the session ended where the log stops")


def reference_call(action: JsonNode, arguments: str) -> ReferenceCall:
    """An action of a reference solution, whose arguments stand under the member of that name."""
    return ReferenceCall(tool=action.need("name").string(), arguments=action.members_at(arguments))


def stem(path: str | Path) -> str:
    """A file's name without its suffixes: what a session is called that has no name of its own."""
    return Path(path).name.partition(".")[0]
