"""An agent that blocks the event loop: a thread beside it sees that, and breaks its turn off.

Policy: a turn that takes too long is cancelled, but an agent that blocks the loop never notices that, and all other
sessions wait for it. Where the loop runs in the main thread, a signal breaks the turn off, as Ctrl-C would, past
whatever catches errors. Elsewhere, as in a notebook or in an actor of Ray, the user can only be told.
"""

import asyncio
import logging
import math
import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from sandbox_mcp.engine.plurals import counted

logger = logging.getLogger(__name__)
SIGNAL: int | None = getattr(signal, "SIGURG", None)
"""One that does nothing of itself and that nobody else waits for; Windows has none."""
BEAT = 0.25
"""Seconds between two signs of life of the loop, and between two looks at them."""
MARGIN = 1.0
"""Seconds beyond the time for a turn, in which it may still end by itself."""
_TURN: ContextVar[bool] = ContextVar("_TURN", default=False)


class BrokenOff(BaseException):
    """End of a turn that blocks the event loop, which no agent should catch."""


@contextmanager
def in_turn() -> Generator[None]:
    """While an agent takes its turn, which alone may be broken off."""
    token = _TURN.set(True)
    try:
        yield
    finally:
        _TURN.reset(token)


@contextmanager
def loop_watched(agent: str, patience: float) -> Generator[None]:
    """See that no turn holds the running loop up for longer than ``patience`` seconds, which a whole turn may take."""
    if not math.isfinite(patience):
        yield
        return
    loop, thread, over = asyncio.get_running_loop(), threading.current_thread(), threading.Event()
    within = f"within {counted(patience, 'second')}, and blocks the event loop"
    alive = time.monotonic()

    def live() -> None:
        nonlocal alive, beat
        alive, beat = time.monotonic(), loop.call_later(BEAT, live)

    def break_off(*_: object) -> None:
        if _TURN.get():
            raise BrokenOff(f"the agent did not answer {within}, so that it was broken off; await what takes long")

    def watch() -> None:
        told = False
        while not over.wait(BEAT):
            if time.monotonic() - alive < patience + MARGIN:
                continue
            if number is not None:
                signal.pthread_kill(thread.ident or 0, number)
                over.wait(MARGIN)
            elif not told:
                told = True
                logger.warning("agent %r does not answer %s, so that no session goes on", agent, within)

    number = SIGNAL if thread is threading.main_thread() else None
    before = None if number is None else signal.signal(number, break_off) or signal.SIG_DFL
    beat = loop.call_later(BEAT, live)
    watcher = threading.Thread(target=watch, name="loop-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        beat.cancel()
        if number is not None:
            signal.signal(number, before)
