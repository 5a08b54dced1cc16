"""One session played in steps: every step is a command of its own, and a folder keeps the place between them.

Policy: the log is the state. It grows among the logs of the run and gets its name there once the session is over; the
player's folder only points at it, because whoever plays must not come across the goal, or the scenario's name, in a
file of theirs. A player sees what any agent sees. Each answer ends in a code that the next step has to give, so that
nobody goes on before they have read it; calls that need nothing of each other are one step.
"""

import json
import secrets
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import anyio
from sandbox_scenarios import Suite

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.folder import RunFolder
from sandbox_mcp.app.run.unit import Unit
from sandbox_mcp.app.run.users import Users
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.trajectory import Message, Trajectory, read_trajectory
from sandbox_mcp.engine.trajectory.model_text import readable
from sandbox_mcp.engine.whole_files import write_whole
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.agent_calls import AgentCall, CallResult, with_notices
from sandbox_mcp.play.session.file_lock import FileLock
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.state_folder import StoredSession, has_opened

STATE = "steps.json"
"""The file in the player's folder, and how the name of the one ends that it points at."""
LOCK = ".steps.lock"
LEFT = "the player gave up"
"""What the log says of a session that its player ended."""


@dataclass(frozen=True, slots=True)
class StepPlace:
    """What is kept of a session between two steps, beside its log, to go on with it.

    ``user`` has the options that said who plays the user, ``worlds`` the files that declare worlds.
    """

    user: Mapping[str, Any]
    scenarios: Sequence[str] = ()
    worlds: Sequence[str] = ()
    log: str = ""
    out: str = ""
    unit: Mapping[str, Any] = field(default_factory=dict[str, Any])
    salt: str = ""


StepCall = tuple[str, Mapping[str, Any]]
"""A call as the player typed it: the tool and its arguments."""
StepAnswer = dict[str, Any]
"""What a player gets to see of a step, as JSON: ``over``, ``read`` and whatever happened."""


class StepFolder:
    """The folder of one player, in which one session after the other can be played."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self) -> StepPlace:
        """What is kept of the session in this folder.

        Raises:
            RunError: none was begun in it, or its record is gone.
        """
        path = Path(self._pointer()["session"])
        try:
            return StepPlace(**loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise RunError(f"the session of {str(self.folder)!r} is lost: {error}; begin in another folder") from error

    def begin(self, out: RunFolder, suite: Suite, users: Users, spec: SessionSpec, place: StepPlace) -> StepAnswer:
        """Begin a session of ``spec`` as the next trial of its scenario among those in ``out``.

        Of ``place`` the log and all that follows are filled in here.

        Raises:
            RunError: another one goes on in the folder.
            RunError: the folders cannot be made.
        """
        out.prepare()
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / LOCK).held():
            seen = self._check_free()
            unit, log = out.claim(Unit(spec.scenario.name, spec.variant, spec.seed))
            begun = replace(place, log=str(log), out=str(out.root), unit=asdict(unit), salt=secrets.token_hex(8))
            kept = log.with_name(f"{secrets.token_hex(8)}-{STATE}")
            with _taken_back(log, kept):
                opened = _stored(suite, users, replace(spec, trial=unit.trial), log)
                answer = self._opening(opened, begun)
                answer["seen_before"] = [tool["name"] for tool in answer["tools"] if _digest(tool) in seen]
                write_whole(kept, json.dumps(asdict(begun), ensure_ascii=False))
                told = {"session": str(kept), "seen": sorted(seen | {_digest(tool) for tool in answer["tools"]})}
                before = Path(self._pointer()["session"]) if (self.folder / STATE).exists() else None
                write_whole(self.folder / STATE, json.dumps(told))
            if before is not None:
                before.unlink(missing_ok=True)
        return answer

    def _pointer(self) -> Mapping[str, Any]:
        path = self.folder / STATE
        try:
            return loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            told = f"nothing was begun in {str(self.folder)!r}; begin with: play SCENARIO --steps {self.folder}"
            raise RunError(told) from None
        except ValueError as error:
            raise RunError(f"{str(path)!r} is damaged: {error}; begin in another folder") from error

    def _check_free(self) -> frozenset[str]:
        """See that no session goes on in the folder; returns the digests of the tools that were described in it."""
        if not (self.folder / STATE).exists():
            return frozenset()
        if _settled(self.place()) is None:
            raise RunError(
                f"a session goes on in {str(self.folder)!r}; go on with it ('show' tells where it stands), or give it "
                "up with 'end'"
            )
        return frozenset(self._pointer()["seen"])

    def show(self, suite: Suite, users: Users) -> StepAnswer:
        """All that the player has been shown so far, once more."""
        with self._turn(suite, users) as (place, opened):
            if opened is None:
                return _over(place)
            return {**self._opening(opened, place), "so_far": _so_far(opened, read_trajectory(Path(place.log)))}

    def call(self, suite: Suite, users: Users, calls: Sequence[StepCall], read: str | None) -> StepAnswer:
        """Let the player make calls, all at once."""
        with self._turn(suite, users) as (place, opened):
            session = _going_on(place, opened)
            _check_read(place, read)
            results = anyio.run(session.run, [AgentCall(tool, dict(arguments)) for tool, arguments in calls])
            shown = [_result(tool, result) for (tool, _), result in zip(calls, results, strict=True)]
            return {"results": shown, **_after(session, place)}

    def say(self, suite: Suite, users: Users, text: str, read: str | None) -> StepAnswer:
        """Let the player say something to the user, who answers."""

        async def said(session: StoredSession) -> Any:
            try:
                return await session.say(readable(text))
            finally:
                await users.aclose()

        with self._turn(suite, users) as (place, opened):
            session = _going_on(place, opened)
            _check_read(place, read)
            reply = anyio.run(said, session)
            parting = {"parting": reply.parting} if reply.parting else {}
            return {"user": reply.text, **parting, "notices": list(reply.notices), **_after(session, place)}

    def end(self, suite: Suite, users: Users) -> StepAnswer:
        """Give the session up; it is kept, and not scored."""
        with self._turn(suite, users) as (place, opened):
            if opened is None:
                return _over(place)
            anyio.run(opened.end, "agent_failed", LEFT)
            return _after(opened, place)

    @contextmanager
    def _turn(self, suite: Suite, users: Users) -> Generator[tuple[StepPlace, StoredSession | None]]:
        """The session as it stands, which is None once it is over, and nobody else in it meanwhile."""
        place = self.place()
        with FileLock(self.folder / LOCK).held():
            if _settled(place) is not None:
                yield place, None
                return
            log = Path(place.log)
            started = read_trajectory(log).started
            spec = SessionSpec.of_log(suite.get(started.scenario), started)
            yield place, _stored(suite, users, spec, log)
            _settled(place)

    def _opening(self, opened: StoredSession, place: StepPlace) -> StepAnswer:
        tools = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
            for tool in opened.presentation.listed
        ]
        told = {"instructions": opened.session.spec.instructions, "tools": tools, "user": opened.opening}
        return {**told, **_after(opened, place)}


@contextmanager
def _taken_back(log: Path, kept: Path) -> Generator[None]:
    """Leave no file of a session that could not begin."""
    try:
        yield
    except BaseException:
        for path in (log, log.with_suffix(".lock"), kept):
            path.unlink(missing_ok=True)
        raise


def _stored(suite: Suite, users: Users, spec: SessionSpec, log: Path) -> StoredSession:
    manager = SessionManager(suite, max_sessions=1, batch_window=0)
    return StoredSession(manager, spec, users.make(spec), manager.log_file(log))


def _settled(place: StepPlace) -> Path | None:
    """The log where it is kept, if the session is over; it is moved there unless that was done before."""
    log, out, unit = Path(place.log), RunFolder(Path(place.out)), Unit(**place.unit)
    if log.exists():
        trajectory = read_trajectory(log) if log.stat().st_size else None
        if trajectory is not None and has_opened(trajectory) and trajectory.ended is None:
            return None
        if trajectory is None or trajectory.ended is None:
            raise RunError(f"the session in {place.log!r} did not begin; begin in another folder")
        out.keep(unit, log)
        log.with_suffix(".lock").unlink(missing_ok=True)
    return out.log(unit)


def _going_on(place: StepPlace, opened: StoredSession | None) -> StoredSession:
    if opened is None:
        told = f" ({reason})" if (reason := _over(place)["reason"]) else ""
        raise RunError(f"the session is over{told}; nothing more can be done in it")
    return opened


def _check_read(place: StepPlace, read: str | None) -> None:
    """See that the last answer was read.

    Raises:
        RunError: its code was not given.
    """
    if read is None:
        told = "read the last answer first, and give the code at its end with --read CODE"
        raise RunError(f"{told}; 'show' shows it once more")
    if read != _code(place):
        raise RunError(f"{read!r} is not the code of the last answer: read that first; 'show' shows it once more")


def _code(place: StepPlace) -> str:
    """A code that changes with every step, and cannot be known before the answer is there."""
    log = Path(place.log)
    return sha256(f"{place.salt}:{log.stat().st_size}".encode()).hexdigest()[:6] if log.exists() else ""


def _after(opened: StoredSession, place: StepPlace) -> StepAnswer:
    over = opened.session.over
    return {"over": over, "reason": opened.session.ended, "read": None if over else _code(place)}


def _over(place: StepPlace) -> StepAnswer:
    kept = RunFolder(Path(place.out)).log(Unit(**place.unit))
    ended = read_trajectory(kept).ended if kept.exists() else None
    return {"over": True, "reason": ended.reason if ended else None, "read": None}


def _result(tool: str, result: CallResult) -> StepAnswer:
    if result.error is not None:
        return {"tool": tool, "error": result.error}
    return {"tool": tool, "result": cast("Any", result.structured), "text": result.text}


def _digest(tool: Mapping[str, Any]) -> str:
    return sha256(json.dumps(tool, sort_keys=True).encode()).hexdigest()[:16]


def _so_far(opened: StoredSession, trajectory: Trajectory) -> list[StepAnswer]:
    """Everything that the player said, did and was shown after the user's first words."""
    lines: list[StepAnswer] = []
    for event in trajectory.events:
        if isinstance(event, Message):
            if "agent" in event.visible_to and event.sender != "system":
                lines.append({"by": {"environment": "notice"}.get(event.sender, event.sender), "text": event.content})
        elif event.caller == "agent":
            shown = opened.session.shown(event)
            tool = opened.session.tools.get(event.name)
            names = {canonical: presented for presented, canonical in tool.names.items()} if tool else {}
            arguments = {names.get(name, name): value for name, value in event.arguments.items()}
            lines.append({"by": "tool", "arguments": arguments, **_result(event.name, shown)})
    return lines[1:]


def in_words(answer: StepAnswer, next_steps: str) -> str:
    """An answer as text, with what the player may do next as its end; ``next_steps`` is how their commands begin."""
    parts: list[str] = []
    if "instructions" in answer:
        parts += ["INSTRUCTIONS", answer["instructions"], "", "TOOLS"]
        known = set(answer.get("seen_before", ()))
        for tool in answer["tools"]:
            if tool["name"] in known:
                parts.append(f"- {tool['name']} (as described before)")
                continue
            schema = json.dumps(tool["input_schema"], ensure_ascii=False)
            parts.append("\n  ".join([f"- {tool['name']}", *str(tool["description"]).splitlines(), schema]))
        parts += ["", f"USER SAYS: {answer['user']}"]
    elif answer.get("user") is not None:
        parts.append(f"USER SAYS: {with_notices(answer['user'], answer['notices'])}")
    if answer.get("parting"):
        parts.append(f"USER SAYS: {answer['parting']}")
    parts += [_line_in_words(line) for line in answer.get("so_far", ())]
    parts += [_result_in_words(result) for result in answer.get("results", ())]
    if answer["over"]:
        return "\n".join([*parts, "OVER: the conversation has ended."])
    ways = f"{next_steps} call|say|end --read CODE ..."
    return "\n".join([*parts, "", f"Go on with: {ways}", f"read this answer: CODE is {answer['read']}"])


def _line_in_words(line: StepAnswer) -> str:
    if line["by"] == "tool":
        return (
            f"YOU CALLED: {line['tool']} {json.dumps(line['arguments'], ensure_ascii=False)}\n{_result_in_words(line)}"
        )
    return {"user": "USER SAYS: ", "agent": "YOU SAID: "}.get(line["by"], "Notice: ") + line["text"]


def _result_in_words(result: StepAnswer) -> str:
    return f"{result['tool']} failed: {result['error']}" if "error" in result else f"{result['tool']}: {result['text']}"
