"""``python -m bench.heard [--turns] PATH...``: what today's scripted user says to the agents of recorded sessions.

Each log of a path is taken up turn by turn, with the calls that its agent made, and the user answers the message that
the agent said there, whatever the log's own user answered before. Counted are sessions in which it leaves where the
log's user went on, stays after the last message although the log's user left, or says no for yes or yes for no;
``--turns`` prints each turn whose words differ. Logs whose scenario opens with other words by now are left out.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from sandbox_scenarios import Suite

from sandbox_mcp.engine.trajectory import MemoryLog, read_trajectory
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.users import ScriptedUser
from sandbox_mcp.play.users.composing import ENOUGH

_YES, _NO = ("yes", "sure", "of course"), ("no", "please leave")


@dataclass(frozen=True)
class HeardTurn:
    """A message of an agent, what the log's user answered, and what today's does; None where it left."""

    message: str
    then: str | None
    now: str | None

    @property
    def ended(self) -> bool:
        """True if the log's user left here, or said that it wants nothing more."""
        return self.then in (None, *ENOUGH)

    @property
    def contradicts(self) -> bool:
        """True if one answer begins with yes and the other with no."""
        before, today = ((words or "").lower() for words in (self.then, self.now))
        return (before.startswith(_YES) and today.startswith(_NO)) or (
            before.startswith(_NO) and today.startswith(_YES)
        )


def turns(path: Path, suite: Suite) -> list[HeardTurn] | None:
    """The turns of a log; None if its scenario opens with other words by now."""
    log = read_trajectory(path)
    scenario = suite.get(log.started.scenario)
    spec = SessionSpec(scenario, variant=log.started.variant, seed=log.started.seed)
    began = log.started.clock
    user = ScriptedUser.of(spec.user, replace(scenario.clock, now=began["now"], zone=began["zone"]))
    session = Session(spec, user, MemoryLog())
    session.restore(replace(log, started=replace(log.started, digest=scenario.digest)))
    lines = session.dialogue
    if not lines or lines[0].text != spec.user.opening:
        return None
    return [
        HeardTurn(
            line.text,
            lines[place + 1].text if place + 1 < len(lines) else None,
            anyio.run(user.respond, lines[: place + 1]).says,
        )
        for place, line in enumerate(lines)
        if line.speaker == "agent"
    ]


def logs(paths: Sequence[Path]) -> Iterator[Path]:
    """The logs that paths name or hold."""
    for path in paths:
        yield from sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]


def main(arguments: Sequence[str]) -> None:
    """Print the counts."""
    parser = ArgumentParser("python -m bench.heard", description="What today's user says to recorded agents.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="logs, or folders of logs")
    parser.add_argument("--turns", action="store_true", help="print each turn whose words differ")
    options = parser.parse_args(arguments)
    suite, read = Suite(), dict.fromkeys(logs(options.paths))
    heard = {path: found for path in read if (found := turns(path, suite))}
    if not heard:
        sys.exit("no log here is of a scenario that opens as it does today")
    for path, found in heard.items():
        for turn in found if options.turns else ():
            if turn.then != turn.now:
                print(f"{path.name}\n  agent  {turn.message!r}\n  then   {turn.then!r}\n  now    {turn.now!r}")
    sessions = list(heard.values())
    every = [turn for found in sessions for turn in found]
    early = sum(any(turn.now in (None, *ENOUGH) and not turn.ended for turn in found[:-1]) for found in sessions)
    stayed = sum(found[-1].then is None and found[-1].now is not None for found in sessions)
    print(f"sessions {len(sessions)}, left out {len(read) - len(sessions)}; turns {len(every)}")
    print(f"leaves early in {early}, stays in {stayed}, yes for no in {sum(map(_contradicted, sessions))}")
    print(f"turns whose words differ: {sum(turn.then != turn.now for turn in every)}")


def _contradicted(found: Sequence[HeardTurn]) -> bool:
    return any(turn.contradicts for turn in found)


if __name__ == "__main__":
    main(sys.argv[1:])
