"""One self-contained file about one or more runs.

Policy: every session that did not pass comes with its conversation; of the rest a sample, spread evenly over the list,
as far as the file stays small. What was left out is said on the first screen.
"""

import json
from itertools import combinations
from typing import Any

from sandbox_mcp.app.report.index import Index
from sandbox_mcp.app.report.overview import comparison, overview
from sandbox_mcp.app.report.page import page
from sandbox_mcp.app.report.session_page import session_page
from sandbox_mcp.engine.plurals import counted

SAMPLE = 100
"""How many passed sessions are shown whole, where there are more."""
WHOLE = 500
"""Up to how many sessions all are shown whole."""
ROOM = 120_000_000
"""How many characters of sessions, unpacked, a file may hold; packed that is some 10 to 20 MB."""
COMPARED = 4
"""Of how many runs every pair is compared."""


def report(index: Index, title: str) -> str:
    """The file as HTML."""
    found = overview(index, title)
    rows: list[dict[str, Any]] = []
    details: dict[str, Any] = {}
    room = ROOM
    for run in found["runs"]:
        mine = index.rows(run["key"])
        passed = [row for row in mine if row["state"] == "passed"]
        step = 1 if len(mine) <= WHOLE else max(1, len(passed) // SAMPLE)
        chosen = [row for row in mine if row["state"] != "passed"] + passed[::step]
        for row in mine:
            row["detail"] = False
        for row in chosen:
            if room > 0 and (kept := index.session(row["id"])) is not None:
                details[row["id"]] = session_page(*kept, row["id"])
                room -= len(json.dumps(details[row["id"]]))
                row["detail"] = True
        rows += mine
        run["sample"] = _sample(mine)
    runs = [run["key"] for run in found["runs"]][:COMPARED]
    comparisons = {f"{a}/{b}": comparison(index, a, b) for x, y in combinations(runs, 2) for a, b in ((x, y), (y, x))}
    return page("embedded", title, {"overview": found, "rows": rows, "details": details, "comparisons": comparisons})


def _sample(rows: list[dict[str, Any]]) -> str | None:
    left = [row for row in rows if not row["detail"]]
    if not left:
        return None
    failed = sum(row["state"] != "passed" for row in left)
    rest = f"; of those that did not pass, {failed} found no room" if failed else ""
    return (
        f"{counted(len(rows) - len(left), 'session')} of {len(rows)} can be opened: those that did not pass, and every "
        f"n-th of the others{rest}. The list below has all of them."
    )
