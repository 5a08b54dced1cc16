"""``python -m bench view [SESSIONS]``: the viewer over a great many sessions, 100,000 unless told otherwise.

Logs are played once and hard-linked under other names, and what the index says of each is copied likewise, so that the
bench does not grade for an hour; how long reading and grading one log takes on one core is measured beside it. What is
measured is a second start: the CPU that the process takes up to its first page, then a search and a session, and the
most memory it held.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

from bench.table import BudgetRow, how_many, show

SCENARIOS = ("late_*", "wifi_*", "bread_*", "castle_*", "bike_*")
AGENTS = ("reference", "refuse")
FIRST_PAGE, FILTER, SESSION = 2.0, 0.2, 0.5
MEMORY = 500.0


def main(arguments: list[str]) -> None:
    """Make the sessions, look at them, and print what it took."""
    wanted = how_many("view", "sessions", 100_000, arguments)
    with tempfile.TemporaryDirectory() as place:
        show(f"view of {wanted} sessions", measured(Path(place), wanted))


def measured(place: Path, wanted: int) -> list[BudgetRow]:
    """The budgets, measured in a folder of one's own."""
    runs, index = place / "runs", place / "index.db"
    for agent in AGENTS:
        _cli("run", *SCENARIOS, "--agent", agent, "--out", str(runs / agent), "--quiet")
    _indexed(runs, None)  # with the scenarios and all code loaded, as it is for most of a great many logs
    reading, read = _indexed(runs, index)
    made = _multiplied(index, wanted)
    _looked_at(runs, index, made)
    first, searching, opening, memory = _looked_at(runs, index, made)
    return [
        BudgetRow("start to first page, with an index, CPU", f"{first:.2f} s", f"{FIRST_PAGE} s", first / FIRST_PAGE),
        BudgetRow("a filter and a search", f"{searching * 1000:.0f} ms", f"{FILTER * 1000:.0f} ms", searching / FILTER),
        BudgetRow("a session", f"{opening * 1000:.0f} ms", f"{SESSION * 1000:.0f} ms", opening / SESSION),
        BudgetRow("memory at most", f"{memory:.0f} MB", f"{MEMORY:.0f} MB", memory / MEMORY),
        BudgetRow("reading and grading a log for the index", f"{reading / read * 1000:.1f} ms", "-", 0.0),
    ]


def _looked_at(runs: Path, index: Path, made: int) -> tuple[float, float, float, float]:
    """CPU seconds until the first page, seconds of a search and of a session, and the most megabytes."""
    command = [*_program(), "view", str(runs), "--index", str(index), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            url = server.stdout.readline().strip()
            _ask(url)
            overview = _ask(url, "api/overview")
            run = overview["runs"][0]["key"]
            rows = _ask(url, "api/sessions", run=run)["rows"]
            first = _cpu(server.pid)
            counted = sum(item["counts"]["sessions"] for item in overview["runs"])
            assert counted == made, f"{counted} of {made} sessions are shown"
            time.sleep(3)  # while it looks for new logs
            searching = _least(lambda: _ask(url, "api/sessions", run=run, query="wifi is:failed"))
            opening = _least(lambda: _ask(url, "api/session", id=rows[0]["id"]))
            return first, searching, opening, _peak(server.pid)
        finally:
            server.terminate()
            server.wait(30)


def _cpu(pid: int) -> float:
    """CPU seconds that a process has taken so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _program() -> list[str]:
    return [sys.executable, "-m", "sandbox_mcp.app.cli"]


def _cli(*arguments: str) -> None:
    subprocess.run([*_program(), *arguments], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _indexed(runs: Path, place: Path | None) -> tuple[float, int]:
    """Read what was played into an index; the CPU seconds it took, and for how many logs."""
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder

    from sandbox_mcp.app.report.index import Index
    from sandbox_mcp.app.report.run_sources import find_runs

    index = Index(place, SuiteFinder())
    began = time.process_time()
    *_, (read, _) = index.add(find_runs([runs]))
    index.close()
    return time.process_time() - began, read


def _multiplied(place: Path, wanted: int) -> int:
    """Link every log under further trials, and copy its rows of the index."""
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder

    from sandbox_mcp.app.report.index import Index

    index = Index(place, SuiteFinder())
    store = index.store
    originals = [dict(row) for row in store.execute("SELECT * FROM sessions")]
    texts = {row["place"]: Path(row["path"]).read_text(encoding="utf-8")[:4000] for row in originals}
    made = len(originals)
    trial = 0
    while made < wanted:
        trial += 1
        for row in originals[: wanted - made]:
            log = Path(row["path"])
            copy = log.with_name(log.name.replace("-t0", f"-t{trial}"))
            os.link(log, copy)
            again = {**row, "place": None, "id": f"{row['run']}:{copy.stem}", "path": str(copy), "trial": trial}
            marks = ", ".join("?" * len(again))
            done = store.execute(f"INSERT INTO sessions ({', '.join(again)}) VALUES ({marks})", tuple(again.values()))
            store.execute("INSERT INTO texts (rowid, body) VALUES (?, ?)", (done.lastrowid, texts[row["place"]]))
        made += min(len(originals), wanted - made)
    store.commit()
    index.close()
    return made


def _ask(url: str, path: str = "", **parameters: str) -> dict[str, object] | None:
    with urllib.request.urlopen(f"{url}{path}?{urlencode(parameters)}", timeout=600) as answer:
        body = answer.read()
    return json.loads(body) if path else None


def _least(work: object) -> float:
    spent = []
    for _ in range(5):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return min(spent)


def _peak(pid: int) -> float:
    """The most memory that a process has held, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))
