"""Sessions played on a Ray cluster: actors that hold suite and agent, each with sessions of its own under way.

Policy: a request asks an actor for as many sessions as take it about ``SPELL`` seconds, because a request for each
would cost too much. As many requests go on in an actor at once as sessions were asked for; it is told that number,
because Ray would otherwise queue those beyond a default of its own. An actor writes its logs itself, into a pack of its
own; what comes back are scores. Who plays which unit is decided here alone, so an actor may die at any moment:
what it had finished is in its pack and counts, and another plays the rest. Ray itself repeats nothing.
"""

import asyncio
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from sandbox_grader.grading.scores import Scores

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.executors import GRACE
from sandbox_mcp.app.run.sessions import Allowed, Crew, OneSession, OnPlayed, RunPlan
from sandbox_mcp.app.run.unit import Unit
from sandbox_mcp.engine.errors import SandboxError, first_line, inner_errors
from sandbox_mcp.engine.worlds import files, use_file
from sandbox_mcp.play.telemetry import flush, own_process

SPELL = 2.0
"""Seconds of work that an actor is asked for at a time."""
FEWEST, MOST = 4, 256
"""So many sessions make a request, however long they take; fewer where the run ends and actors would stand idle."""
DEATHS = 3
"""So many actors may die one after the other without a session being finished; then it is not chance."""


@dataclass(frozen=True, slots=True)
class OnRay:
    """Plays units on actors of Ray, ``plan.jobs`` sessions at a time in each.

    ``recipe`` makes the crew in an actor, so pickle must be able to send it. Every node must reach the folder of the
    run under the same path. Without an ``address``, the sessions are played on the cluster that the variable
    ``RAY_ADDRESS`` names, or else on one started on this machine for the run. Without ``actors``, there is one
    for each core of the cluster.
    """

    recipe: Callable[[], Crew]
    address: str | None = None
    actors: int | None = None

    async def play(self, units: Sequence[Unit], plan: RunPlan, allowed: Allowed, told: OnPlayed) -> None:
        """Play these units.

        Raises:
            RunError: Ray is not installed, the cluster cannot be reached, or actors die again and again.
        """
        if not units:
            return
        crew = self.recipe()
        with _connected(self.address) as ray:
            cores = int(ray.cluster_resources().get("CPU", 1))
            count = max(1, min(self.actors or cores, -(-len(units) // plan.jobs)))
            work = _Work(deque(units), allowed, told, lanes=count * plan.jobs, most=1 if plan.singly else MOST)
            try:
                await _Pool(ray, self.recipe, plan, count, work, crew).play()
            finally:
                await crew.aclose()


@contextmanager
def _connected(address: str | None) -> Generator[Any]:
    """Ray, connected to a cluster; one that the caller is connected to already stays so."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # whether to report use elsewhere is not ours to decide
    try:
        ray: Any = import_module("ray")
    except ImportError as error:
        raise RunError("--executor ray needs Ray; install it with: pip install 'sandbox-mcp-eval[ray]'") from error
    if ray.is_initialized():
        yield ray
        return
    elsewhere = address or os.environ.get("RAY_ADDRESS")
    if elsewhere and (told := _unreachable(elsewhere)):
        raise RunError(f"Ray cannot use cluster {elsewhere!r}: {told}")
    own = {} if elsewhere else {"include_dashboard": False}
    before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=elsewhere, log_to_driver=False, logging_level="error", namespace="sandbox-mcp", **own)
    except Exception as error:  # Ray raises whatever its parts raise
        where = f"cluster {elsewhere!r}" if elsewhere else "a cluster on this machine"
        raise RunError(f"Ray cannot use {where}: {first_line(error) or type(error).__name__}") from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)  # Ray's own handler would exit without ending agents
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):  # where Ray tells what it sees
        try:
            yield ray
        finally:
            ray.shutdown()


def _unreachable(address: str) -> str | None:
    """Reason for which ``HOST:PORT`` does not answer, None if it does: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if "//" in address or not host or not port.isdecimal():
        return None
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        return str(getattr(error, "strerror", None) or error)
    return None


@dataclass(slots=True)
class _Work:
    """The units that are still to be played, and how many an actor should get at a time."""

    waiting: deque[Unit]
    allowed: Allowed
    told: OnPlayed
    lanes: int
    most: int = MOST
    begun: deque[Unit] = field(default_factory=deque[Unit])
    """Units that may begin, because they had begun on an actor that died."""
    lost: list[Unit] = field(default_factory=list[Unit])
    """Units of which it is not known whether an actor that died had finished them."""
    deaths: int = 0
    empty: anyio.Event = field(default_factory=anyio.Event)
    """Set when nothing is left to hand out, for now."""
    _seconds: float = SPELL / FEWEST
    _stopped: bool = False

    @property
    def left(self) -> int:
        """Number of units that may still be handed out, as far as is known."""
        return len(self.begun) + (0 if self._stopped else len(self.waiting))

    def next(self) -> tuple[Unit, ...]:
        """The units for one request; none if there are none, or no more may begin."""
        left = self.left
        wanted = max(FEWEST, round(SPELL / max(self._seconds, 1e-6)))
        size = max(1, min(wanted, self.most, -(-left // (2 * self.lanes))))
        batch = tuple(unit for _, unit in zip(range(size), self._begin(), strict=False))
        if not self.left:
            self.empty.set()
        return batch

    def _begin(self) -> Iterator[Unit]:
        while self.begun:
            yield self.begun.popleft()
        while self.waiting and not self._stopped:
            if not self.allowed():
                self._stopped = True
                return
            yield self.waiting.popleft()

    def done(self, batch: Sequence[Unit], scores: Sequence[Scores], seconds: float) -> None:
        """Count what a request came to."""
        self.deaths = 0
        self._seconds = 0.7 * self._seconds + 0.3 * seconds / len(batch)
        for unit, found in zip(batch, scores, strict=True):
            self.told(unit, found)


@dataclass(frozen=True, slots=True)
class _Pool:
    """Actors, and the work handed to them."""

    ray: Any
    recipe: Callable[[], Crew]
    plan: RunPlan
    count: int
    work: _Work
    crew: Crew

    async def play(self) -> None:
        """Play all that may be played, in rounds: what was lost with an actor is looked for and played in the next.

        Raises:
            RunError: actors die again and again.
        """
        while True:
            try:
                async with anyio.create_task_group() as group:
                    for _ in range(self.count):
                        group.start_soon(self._keep_one_going)
            except ExceptionGroup as errors:
                raise inner_errors(errors)[0] from None
            if not self.work.lost:
                return
            # what actors that died had finished counts, and the rest is played again
            folder, suite = self.crew.folder, self.crew.suite
            folder.settle()
            kept, begun = folder.kept(), folder.begun()
            lost, self.work.lost, self.work.empty = self.work.lost, [], anyio.Event()
            for unit in lost:
                scenario = suite.get(unit.scenario)
                trajectory = folder.finished(unit, scenario.digest, kept, begun)
                if trajectory is None:
                    self.work.begun.append(unit)
                else:
                    self.work.told(unit, self.crew.judge(trajectory, scenario))

    async def _keep_one_going(self) -> None:
        """Have an actor play until nothing is left; if it dies, another."""
        while self.work.left:
            # as many things at once as there are sessions, and it may be served and closed meanwhile
            options = {"num_cpus": 1, "max_concurrency": self.plan.jobs + 2, "max_restarts": 0, "max_task_retries": 0}
            player = self.ray.remote(RayActor).options(**options).remote(self.recipe, self.plan, Path.cwd(), files())
            player.serve.remote()
            try:
                if not await self._ready(player):
                    return
                async with anyio.create_task_group() as group:
                    for _ in range(self.plan.jobs):
                        if batch := self.work.next():
                            group.start_soon(self._lane, player, batch)
                await self._answer(player.close.remote(), ())
            except ExceptionGroup as errors:
                heard = inner_errors(errors)  # one death, and each of its lanes may have heard of it
                for error in heard:
                    if not isinstance(error, _ActorDiedError):
                        raise error from None
                self._count_death(heard[0])
            except _ActorDiedError as error:
                self._count_death(error)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True), anyio.move_on_after(GRACE), suppress(Exception):
                    await player.close.remote()  # killed at once, it would leave its agents behind
                raise
            finally:
                with suppress(Exception):
                    self.ray.kill(player)

    async def _ready(self, player: Any) -> bool:
        """Wait until an actor can play, for which the cluster needs room; not if the others have done all meanwhile."""
        ready = False
        async with anyio.create_task_group() as group:

            async def until_nothing_is_left() -> None:
                await self.work.empty.wait()
                group.cancel_scope.cancel()

            group.start_soon(until_nothing_is_left)
            await self._answer(player.ready.remote(), ())
            ready = True
            group.cancel_scope.cancel()
        return ready

    def _count_death(self, error: BaseException) -> None:
        self.work.deaths += 1
        if self.work.deaths > DEATHS * self.count:
            raise RunError(f"workers on Ray die again and again without playing a session: {error}")

    async def _lane(self, player: Any, batch: tuple[Unit, ...]) -> None:
        while batch:
            began = time.monotonic()
            scores: list[Scores] = await self._answer(player.play.remote(batch), batch)
            self.work.done(batch, scores, time.monotonic() - began)
            batch = self.work.next()

    async def _answer(self, asked: Any, batch: tuple[Unit, ...]) -> Any:
        """Answer of an actor."""
        errors = self.ray.exceptions
        try:
            return await asked
        except anyio.get_cancelled_exc_class():
            self.work.lost.extend(batch)  # another request to the same actor was the first to hear that it died
            raise
        except errors.RayTaskError as error:
            cause: BaseException = error.cause or error
            if isinstance(cause, SandboxError):
                raise RunError(str(cause)) from None
            raise RunError(f"a worker on Ray failed: {type(cause).__name__}: {cause}") from error
        except errors.RayError as error:
            self.work.lost.extend(batch)
            raise _ActorDiedError(first_line(error)) from error


class _ActorDiedError(Exception):
    """An actor died, or its node."""


class RayActor:
    """Work of an actor of Ray: a crew that stays, and plays what it is asked for."""

    def __init__(self, recipe: Callable[[], Crew], plan: RunPlan, place: Path, worlds: tuple[Path, ...]) -> None:
        """``place`` is the folder in which relative paths are meant, ``worlds`` what declares the user's own."""
        with suppress(OSError):
            os.chdir(place)
        for path in worlds:
            use_file(path)
        self._recipe = recipe
        self._plan = plan
        self._session: OneSession | None = None
        self._fault = ""
        self._ready, self._over, self._gone = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def serve(self) -> None:
        """Hold the crew from now until :meth:`close`, in one task, as what a transport opens has to be closed there."""
        own_process()
        try:
            crew = self._recipe()
            if not crew.folder.begun_here:
                seen = f"node {socket.gethostname()} does not see the run in {str(crew.folder.root.absolute())!r}"
                raise RunError(f"{seen}; name a folder with --out that all nodes see under the same path")
            with crew.folder.pack(self._plan.shard) as pack:
                async with crew.seated(self._plan, pack if self._plan.packed else None) as session:
                    self._session = session
                    self._ready.set()
                    await self._over.wait()
        except Exception as error:  # noqa: BLE001 - whoever asks for a session is told
            self._fault = str(error) if isinstance(error, SandboxError) else f"{type(error).__name__}: {error}"
        finally:
            self._session = None
            self._ready.set()
            await anyio.to_thread.run_sync(flush)
            self._gone.set()

    async def ready(self) -> None:
        """Wait until sessions can be played.

        Raises:
            RunError: they cannot.
        """
        await self._ready.wait()
        if self._session is None:
            raise RunError(self._fault or "the worker was closed")

    async def play(self, units: Sequence[Unit]) -> list[Scores]:
        """Play units one after the other; others may be played at the same time by another call.

        Raises:
            RunError: there is no crew to play them, or a log cannot be kept.
        """
        await self.ready()
        try:
            return [await session(unit) for unit in units if (session := self._session)]
        except SandboxError as error:  # its attributes would not come through to the other process
            raise RunError(str(error)) from None

    async def close(self) -> None:
        """Finish the pack, and let go of agent and users."""
        self._over.set()
        await self._gone.wait()
