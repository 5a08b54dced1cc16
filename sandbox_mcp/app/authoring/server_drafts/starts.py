"""Started servers for trials, as few as will do, since a start costs more than all calls of a trial.

Policy: a trial gets a server on which nothing has been done. One that only looked, or was refused without a visible
change, leaves its server as it was for the next. What is played again to see what differs from start to start gets
another process. Two run at a time, and the next one starts while the last is used, unless they could share state: at
one URL, or under reset commands of the person's own.
"""

from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.worlds.recorded.live import LiveServer, names_folder
from sandbox_mcp.play.session.running_server import RunningServer, ServerLostError


class TrialStart:
    """One started server; ``spent`` once something was done on it."""

    def __init__(self, running: RunningServer) -> None:
        self.running = running
        self.spent = False


class TrialStarts:
    """The starts of one server. Used as a context, at whose end all are stopped."""

    def __init__(self, server: LiveServer) -> None:
        self.server = server
        own = [step for step in server.reset if not (isinstance(step, str) and names_folder(step))]
        self._together = not server.url and not own
        self._fresh: list[TrialStart] = []
        self._coming: Future[RunningServer] | None = None
        self._thread = ThreadPoolExecutor(1)
        self.count = 0

    def __enter__(self) -> "TrialStarts":
        """Start nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop all that run."""
        for start in self._fresh:
            start.running.close()
        self._fresh.clear()
        if self._coming is not None and not self._coming.cancel() and self._coming.exception() is None:
            self._coming.result().close()
        self._thread.shutdown()

    @contextmanager
    def fresh(self, besides: TrialStart | None = None) -> Generator[TrialStart]:
        """A server on which nothing was done, other than ``besides``.

        Raises:
            SandboxError: it cannot be started, or is lost in between.
        """
        start = next((item for item in self._fresh if item is not besides), None)
        if start is None:
            start = TrialStart(self._started())
        else:
            self._fresh.remove(start)
        try:
            yield start
        except ServerLostError as error:
            start.spent = True
            raise SandboxError(str(error)) from error
        except BaseException:
            start.spent = True
            raise
        finally:
            if start.spent:
                start.running.close()
                self._begin()
            else:
                self._fresh.append(start)

    def _started(self) -> RunningServer:
        self.count += 1
        if not self._together:
            for other in self._fresh:
                other.running.close()
            self._fresh.clear()
        coming, self._coming = self._coming, None
        return coming.result() if coming is not None else RunningServer(self.server)

    def _begin(self) -> None:
        """Start the next one while the last is looked at."""
        if self._together and self._coming is None and len(self._fresh) < 2:
            self._coming = self._thread.submit(RunningServer, self.server)
