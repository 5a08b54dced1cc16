"""Figures at ``/metrics`` for a monitor: open sessions, calls, and their durations, of all workers together.

Policy: a call adds to a few numbers in memory that workers share, and each writes its own; everything else is done when
it is asked for. Tools, sessions and tokens are not labels, since there is no end to them and they are private.
The text is written here, because the format has not changed since 2014 and takes fewer lines than a dependency.
Source: Prometheus, exposition formats, text-based format 0.0.4.
"""

import mmap
from bisect import bisect_left
from collections.abc import Iterator

TEXT = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
"""Upper bounds of the classes of call durations, in seconds; one more class has no bound."""
_SECONDS, _FAULTS = len(BOUNDS) + 1, len(BOUNDS) + 2
_WIDTH = len(BOUNDS) + 3


class CallMeter:
    """Counts of calls that each of ``workers`` processes has answered, by duration; this one is ``index``."""

    def __init__(self, workers: int = 1) -> None:
        self._figures = memoryview(mmap.mmap(-1, 8 * _WIDTH * workers)).cast("d")
        self.workers = workers
        self.index = 0

    def took(self, seconds: float, *, fault: bool) -> None:
        """Count a call of this process."""
        at = self.index * _WIDTH
        self._figures[at + bisect_left(BOUNDS, seconds)] += 1
        self._figures[at + _SECONDS] += seconds
        if fault:
            self._figures[at + _FAULTS] += 1

    def text(self, open_sessions: int, max_sessions: int) -> str:
        """The figures of all processes as a monitor reads them."""
        return "".join(f"{line}\n" for line in self._lines(open_sessions, max_sessions))

    def _lines(self, open_sessions: int, max_sessions: int) -> Iterator[str]:
        sums = [sum(self._figures[place::_WIDTH]) for place in range(_WIDTH)]
        counts = [int(sums[place]) for place in range(_SECONDS)]
        yield from _gauge("sandbox_mcp_sessions_open", "Sessions that can be reached.", open_sessions)
        yield from _gauge("sandbox_mcp_sessions_max", "How many may be open at a time.", max_sessions)
        yield from _gauge("sandbox_mcp_workers", "Processes that serve.", self.workers)
        yield "# HELP sandbox_mcp_calls_total Calls of tools that were answered, by what came of them."
        yield "# TYPE sandbox_mcp_calls_total counter"
        yield f'sandbox_mcp_calls_total{{outcome="fault"}} {int(sums[_FAULTS])}'
        yield f'sandbox_mcp_calls_total{{outcome="ok"}} {sum(counts) - int(sums[_FAULTS])}'
        name = "sandbox_mcp_call_duration_seconds"
        yield f"# HELP {name} Time from a call to its answer, held for others of its batch included."
        yield f"# TYPE {name} histogram"
        for number, bound in enumerate((*map(str, BOUNDS), "+Inf"), start=1):
            yield f'{name}_bucket{{le="{bound}"}} {sum(counts[:number])}'
        yield f"{name}_sum {sums[_SECONDS]:.9f}"
        yield f"{name}_count {sum(counts)}"


def _gauge(name: str, told: str, value: int) -> Iterator[str]:
    yield f"# HELP {name} {told}"
    yield f"# TYPE {name} gauge"
    yield f"{name} {value}"
