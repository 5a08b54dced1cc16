"""``python -m bench prefixes CHECKOUT``: ToolTalk's conversations by prefixes, played, recorded and graded.

All 78 are played by the reference agent in one process, with logs written, several times: the first pass reads the
checkout and carries the ground truth out, the others have both at hand, as further trials and variants of a run do.
"""

import tempfile
import time
from pathlib import Path

from sandbox_clients.reference import ReferenceAgent

from bench.table import BudgetRow, show
from sandbox_mcp.app.benchmarks.tooltalk.conversations import Conversations
from sandbox_mcp.app.run.evaluate import evaluate
from sandbox_mcp.engine.worlds.office.tooltalk import NoCheckoutError

BUDGET = 0.005
PASSES = 8


def main(arguments: list[str]) -> None:
    """Play them, and print what one conversation took: at first, and afterwards at best."""
    if len(arguments) != 1:
        raise SystemExit("usage: python -m bench prefixes CHECKOUT")
    try:
        talks = Conversations(Path(arguments[0]))
    except NoCheckoutError as error:
        raise SystemExit(str(error)) from None
    with tempfile.TemporaryDirectory() as place:
        _played(Conversations(Path(arguments[0])), Path(place) / "warm")  # so that nothing has to be imported
        first = _played(talks, Path(place) / "first")
        again = min(_played(talks, Path(place) / str(number)) for number in range(PASSES))
    show("ToolTalk by prefixes", [_row("a conversation, the first time", first), _row("a conversation again", again)])


def _played(talks: Conversations, out: Path) -> float:
    """CPU seconds per conversation."""
    before = time.process_time()
    report = evaluate(
        ReferenceAgent(), talks, mode="prefix", metric="tooltalk.success", out=out, transport="direct", jobs=1
    )
    assert report.score == 1.0, "only conversations that are answered right are worth measuring"
    return (time.process_time() - before) / len(report.sessions)


def _row(what: str, took: float) -> BudgetRow:
    return BudgetRow(what, f"{took * 1000:.1f} ms", f"{BUDGET * 1000:.0f} ms", took / BUDGET)
