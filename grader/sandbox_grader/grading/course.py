"""Course of a session: its world, its length, what failed and was mended, and what was done at once.

Policy: only the agent's own calls count, and not its way to speak. A slip is a run of failed calls of one tool; it is
mended if the agent gets a later call of that tool through, or of any tool where there was none of that name. Calls that
were sent together and touched the same state have lost their race by the session's rule; the log marks them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_grader.grading.values import form_of
from sandbox_mcp.engine.trajectory import CallError, Message, ToolCall, Trajectory
from sandbox_mcp.engine.worlds.recorded import FILLED, NotRecordedError

TALK = "send_message_to_user"
"""The tool by which an agent speaks where it drives the session itself."""


def is_replay(trajectory: Trajectory) -> bool:
    """True if every reply of a log was asked for on a history that the log does not have: the reference's."""
    return bool((trajectory.started.origin or {}).get("prefix_replay"))


@dataclass(frozen=True, slots=True)
class SessionCourse:
    """Facts about one session.

    ``tools`` were offered, ``turns`` are messages of the user, ``calls`` the agent's, of which ``failed`` did.
    ``slips`` are pairs of an error's kind and whether it was mended. Of the batches of several calls, ``parallel``,
    ``raced`` lost a race and in ``raced_to_failure`` a raced call failed; ``doubled`` counts calls that repeat another
    one of their batch. In a recorded world the tape had no answer to ``unrecorded``, and a model gave that to
    ``filled``. ``user`` says who played the user, ``digest`` is that of the scenario. ``replies``
    are the messages of the agent, which tables call turns; None where a file of scores does not say.
    """

    world: str = ""
    tools: int = 0
    turns: int = 0
    calls: int = 0
    failed: int = 0
    slips: tuple[tuple[str, bool], ...] = ()
    parallel: int = 0
    raced: int = 0
    raced_to_failure: int = 0
    doubled: int = 0
    unrecorded: int = 0
    filled: int = 0
    user: str = ""
    digest: str = ""
    replies: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The facts as one JSON object."""
        told = {name: getattr(self, name) for name in self.__slots__}
        return {**told, "slips": [list(slip) for slip in self.slips]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SessionCourse":
        """The facts that :meth:`to_json` wrote; missing fields are not known."""
        known: dict[str, Any] = {name: data[name] for name in cls.__slots__ if name in data}
        known["slips"] = tuple((str(kind), bool(mended)) for kind, mended in data.get("slips", ()))
        return cls(**known)


def course_of(trajectory: Trajectory) -> SessionCourse:
    """Read a session's course from its log."""
    started = trajectory.started
    calls = [
        event
        for event in trajectory.events
        if isinstance(event, ToolCall) and event.caller == "agent" and TALK not in (event.tool, event.name)
    ]
    batches: dict[str, list[ToolCall]] = {}
    errors, filled = list[CallError](), 0
    for call in calls:
        batches.setdefault(call.batch, []).append(call)
        filled += FILLED in call.meta
        if call.error is not None:
            errors.append(call.error)
    several = [batch for batch in batches.values() if len(batch) > 1] if len(batches) < len(calls) else []
    raced = [[call for call in batch if call.meta.get("race")] for batch in several]
    speakers = [event.sender for event in trajectory.events if isinstance(event, Message)]
    return SessionCourse(
        world=next(iter(started.worlds), ""),
        tools=len(started.tools),
        turns=speakers.count("user"),
        calls=len(calls),
        failed=len(errors),
        slips=tuple(_slips(calls)) if errors else (),
        parallel=len(several),
        raced=sum(map(bool, raced)),
        raced_to_failure=sum([any(call.error is not None for call in batch) for batch in raced]),
        doubled=sum([len(batch) - len({(call.name, form_of(call.arguments)) for call in batch}) for batch in several]),
        unrecorded=[error.type for error in errors].count(NotRecordedError.__name__),
        filled=filled,
        user=_described(started.user),
        digest=started.digest,
        replies=speakers.count("agent"),
    )


def _described(user: Mapping[str, Any]) -> str:
    """Describe a user in a few words: its kind, and all else that it states of itself but where its model is."""
    more = [f"{name} {form_of(value)}" for name, value in user.items() if name not in ("kind", "base_url") and value]
    return ", ".join([str(user.get("kind", "")), *more]) if user else ""


def _slips(calls: Sequence[ToolCall]) -> list[tuple[str, bool]]:
    got_through = {call.name: place for place, call in enumerate(calls) if call.error is None}  # the last of each name
    last = max(got_through.values(), default=-1)
    found: list[tuple[str, bool]] = []
    open_slips: set[str] = set()
    for place, call in enumerate(calls):
        if call.error is None:
            open_slips.discard(call.name)
        elif call.name not in open_slips:
            open_slips.add(call.name)
            mended_at = last if call.error.kind == "unknown_tool" else got_through.get(call.name, -1)
            found.append((call.error.kind, mended_at > place))
    return found
