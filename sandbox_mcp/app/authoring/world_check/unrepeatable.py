"""Parts of Python's library that give other results on another machine, at another time or in another process.

Policy: names are the full ones, whatever an import calls them. In modules that reach outside, functions that only
compute are listed and allowed. Where it depends on the arguments, as for a generator of random numbers with a seed, the
call is judged.
"""

import ast

Sin = tuple[str, str]
"""The rule that something breaks, and what is wrong with it."""

CLOCKS = {
    *(f"time.{name}" for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")),
    *(f"time.{name}" for name in ("process_time", "thread_time", "localtime", "mktime", "ctime", "sleep", "tzname")),
    *(f"datetime.datetime.{name}" for name in ("now", "utcnow", "today")),
    "datetime.date.today", "datetime.date.fromtimestamp", "time.timezone", "time.altzone",
    "timeit.default_timer", "email.utils.localtime",
}  # fmt: skip
CLOCKS_WITHOUT = {"time.gmtime": 1, "time.asctime": 1, "time.strftime": 2, "email.utils.formatdate": 1}
"""What asks the clock only where it is given fewer arguments than that."""
ZONED = {"datetime.datetime.fromtimestamp"}
"""What takes the host's zone where it is given none."""

CHANCES = {"random", "secrets", "numpy.random"}
CHANCE_NAMES = {
    *("uuid.uuid1", "uuid.uuid4", "uuid.uuid6", "uuid.uuid7", "uuid.getnode", "os.urandom", "os.getrandom"),
    "email.utils.make_msgid",
}
SEEDED = {"random.Random", "numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator"}
"""Generators, which give the same every time where they are given a seed."""
NO_CHANCE = {"secrets.compare_digest"}

SHARED = {"decimal.getcontext", "decimal.setcontext"}
"""What stands for something that is in no module of a world, and lasts as if it were."""

OUTSIDE = {
    "threading", "multiprocessing", "concurrent", "asyncio", "ctypes", "platform", "getpass", "locale", "requests",
    "httpx", "aiohttp", "urllib", "socket", "socketserver", "subprocess", "shutil", "http", "sqlite3", "tempfile", "os",
    "sys", "signal", "select", "selectors", "ssl", "smtplib", "ftplib", "imaplib", "poplib", "gzip", "bz2", "lzma",
    "zipfile", "tarfile", "shelve", "dbm", "fileinput", "linecache", "webbrowser", "pty", "posix", "atexit", "gc",
    "resource", "sched",
}  # fmt: skip
OUTSIDE_NAMES = {
    *("io.open", "io.FileIO", "codecs.open", "logging.FileHandler", "logging.basicConfig", "pathlib.Path.cwd"),
    *("pathlib.Path.home", "importlib.import_module", "importlib.reload", "pkgutil.get_data", "runpy.run_path"),
    *("inspect.stack", "inspect.currentframe", "zoneinfo.available_timezones"),
}
INSIDE = {
    *("urllib.parse", "http.HTTPStatus", "http.HTTPMethod", "sys.maxsize", "sys.float_info", "sys.intern", "os.sep"),
    *("sys.version_info", "os.fspath", "os.PathLike", "sys.getrecursionlimit", "sys.maxunicode", "sys.byteorder"),
    *(f"os.path.{name}" for name in ("basename", "commonprefix", "dirname", "isabs", "join", "normpath", "split")),
    *("os.path.splitext", "threading.local", "posix.fspath"),
}
"""What only computes, of modules that reach outside."""
BUILT_IN = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
"""What Python has everywhere and a world leaves alone."""


def is_judged_by_name(path: str) -> bool:
    """True if the imported name of something is enough to judge it."""
    return _within(path, OUTSIDE | CHANCES)


def sin_of(path: str) -> Sin | None:
    """Fault of something that is named, wherever it goes."""
    path = path.removeprefix("builtins.")
    if path in BUILT_IN:
        return "outside_io", f"{path}() reaches outside the world"
    if path in SHARED:
        return "module_state", f"{path} gives what all sessions of a process have"
    if path in CLOCKS:
        return "host_clock", f"{path} tells the host's time"
    if path in CHANCE_NAMES or (_within(path, CHANCES) and path not in SEEDED | NO_CHANCE | CHANCES):
        return "chance", f"{path} gives something else each time"
    if path in OUTSIDE_NAMES or (_within(path, OUTSIDE) and path not in OUTSIDE and not _within(path, INSIDE)):
        return "outside_io", f"{path} reaches outside the world"
    return None


def sin_of_call(path: str, node: ast.Call) -> Sin | None:
    """Fault of a call, as it is called."""
    given = len(node.args) + len(node.keywords)
    if given < CLOCKS_WITHOUT.get(path, 0):
        return "host_clock", f"{path}() without a moment tells the host's time"
    if path in ZONED and len(node.args) < 2 and not any(item.arg == "tz" for item in node.keywords):
        return "host_clock", f"{path}() without a time zone tells the time in the host's"
    seeds = [item for item in node.args if not (isinstance(item, ast.Constant) and item.value is None)]
    if path in SEEDED and not seeds and not node.keywords:
        return "chance", f"{path}() without a seed gives something else each time"
    return None


def _within(path: str, known: set[str]) -> bool:
    """True if a dotted path is one of the known names, or lies within one."""
    parts = path.split(".")
    return any(".".join(parts[:length]) in known for length in range(1, len(parts) + 1))
