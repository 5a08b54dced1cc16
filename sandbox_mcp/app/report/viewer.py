"""A small server on loopback that shows any number of runs, also while one is going on.

Policy: it reads and never writes into a run's folder. It answers loopback names alone, so that no page of the web can
reach it by a name that points here. New logs are looked for once a second, in a thread of their own, and a session is
graded once: the first page is there before the last log has been read.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sandbox_grader.grading.metric import Mode
from sandbox_grader.reporting.grade_logs import Find
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sandbox_mcp.app.report.errors import ReportError
from sandbox_mcp.app.report.filters import FilterError
from sandbox_mcp.app.report.index import Index
from sandbox_mcp.app.report.overview import comparison, overview
from sandbox_mcp.app.report.page import page
from sandbox_mcp.app.report.run_sources import find_runs
from sandbox_mcp.app.report.session_page import session_page
from sandbox_mcp.play.server.guard import Guard
from sandbox_mcp.play.server.settings import ServerSettings

PAUSE = 1.0
"""Seconds between two looks for new logs."""
REST = 5
"""How much longer than a look took the next one waits, so that looking through a great many logs leaves room."""
MOST = 500
"""How many sessions one answer lists at most."""
GRID = 4000
"""Above how many sessions a run is shown without a square for each."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Viewer:
    """The folders that the server watches, with an index of the runs in them."""

    def __init__(self, paths: Sequence[Path], find: Find, mode: Mode = "strict", place: Path | None = None) -> None:
        find_runs(paths)  # a folder that does not exist is said at once
        self.paths = paths
        self.title = "sandbox-mcp: " + ", ".join(path.name or str(path) for path in paths)
        self.index = Index(place, find, mode)
        self.progress = (0, 0)
        self._overview: tuple[int, dict[str, Any]] | None = None
        self._due = 0.0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="index", daemon=True)

    def start(self) -> None:
        """Begin to read present logs, and go on with new ones."""
        self._thread.start()

    def stop(self) -> None:
        """Stop reading."""
        self._stopped.set()
        self._thread.join()
        self.index.close()

    def _follow(self) -> None:
        while not self._stopped.is_set():
            looked = 0.0
            # A folder that has gone, no room for the index, a process that was killed: what was read before is still
            # shown, and it tries again.
            with suppress(ReportError, OSError, sqlite3.Error, BrokenExecutor):
                looked = self._read()
            self._stopped.wait(max(PAUSE, REST * looked))

    def _read(self) -> float:
        """Read new logs; returns how many seconds it took to find it, without the reading itself."""
        began = time.monotonic()
        todo = self.index.look(find_runs(self.paths))
        looked = time.monotonic() - began
        with closing(self.index.read(todo)) as reading:
            for progress in reading:
                self.progress = progress
                if self._stopped.is_set():
                    break
        return looked

    def overview(self) -> dict[str, Any]:
        """All runs at a glance, worked out anew when there is something new."""
        with self.index.lock:
            changes = self.index.changes
            if self._overview is None or (self._overview[0] != changes and time.monotonic() >= self._due):
                began = time.monotonic()
                self._overview = (changes, overview(self.index, self.title))
                self._due = began + REST * (time.monotonic() - began)
            done, of = self.progress
            return {**self._overview[1], "reading": {"done": done, "of": of}}

    def asked(self, question: Callable[[Index], Any]) -> Any:
        """The answer of the index, while nothing is written to it."""
        with self.index.lock:
            return question(self.index)


def viewer_app(viewer: Viewer) -> Starlette:
    """The application: one page and what it asks for."""
    html = page("server", viewer.title)

    def answer(data: Any) -> Response:
        return JSONResponse(data, 404 if data is None else 200, headers=HEADERS)

    def home(_: Request) -> Response:
        return HTMLResponse(html, headers=HEADERS)

    def at_a_glance(_: Request) -> Response:
        return answer(viewer.overview())

    def sessions(request: Request) -> Response:
        told = request.query_params
        run, query, sort = (told.get(name, "") for name in ("run", "query", "sort"))
        given = {name: text for name, text in told.items() if text.isdecimal() and len(text) < 10}
        offset, limit = int(given.get("offset", 0)), int(given.get("limit", 100))
        try:
            rows = viewer.asked(lambda index: index.rows(run, query, sort, offset, min(limit, MOST)))
            return answer({"rows": rows, "total": viewer.asked(lambda index: index.total(run, query))})
        except FilterError as error:
            return JSONResponse({"error": str(error)}, 400, headers=HEADERS)

    def grid(request: Request) -> Response:
        run = request.query_params.get("run", "")
        many = viewer.asked(lambda index: index.total(run)) > GRID
        return answer({"rows": [] if many else viewer.asked(lambda index: index.rows(run))})

    def session(request: Request) -> Response:
        key = request.query_params.get("id", "")
        place = viewer.asked(lambda index: index.log_of(key))
        found = place and viewer.index.opened(*place)
        if not found:
            return answer(None)
        trajectory, scores, scenario, run = found
        return answer(session_page(trajectory, scores, scenario, run, key))

    def compared(request: Request) -> Response:
        a, b = (request.query_params.get(name, "") for name in ("a", "b"))
        known = {source.key for source in viewer.asked(lambda index: index.runs())}
        return answer(viewer.asked(lambda index: comparison(index, a, b)) if {a, b} <= known else None)

    routes = [
        Route("/", home),
        Route("/api/overview", at_a_glance),
        Route("/api/sessions", sessions),
        Route("/api/grid", grid),
        Route("/api/session", session),
        Route("/api/compare", compared),
    ]
    app = Starlette(routes=routes)
    app.add_middleware(Guard, settings=ServerSettings())
    return app
