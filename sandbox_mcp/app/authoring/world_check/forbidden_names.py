"""Names in a world's code that would make its sessions differ: clocks, chance, files, network, ways past ``tx``.

Policy: names are the full ones, by imports. Clocks and chance are forbidden everywhere. Code that runs on import may
read files: module code, and the functions and classes that it names or that these name.
"""

import ast
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from sandbox_mcp.app.authoring.world_check.findings import WorldFinding
from sandbox_mcp.app.authoring.world_check.sources import Function, Source, dotted, imports_in, runs_on_import
from sandbox_mcp.engine.tools import World

FORBIDDEN = {
    "host_clock": "time.time time.time_ns time.monotonic* time.perf_counter* time.localtime time.ctime time.sleep "
    "datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today datetime.date.today",
    "chance": "random.* secrets.* numpy.random.* uuid.uuid1 uuid.uuid4 os.urandom",
    "outside_io": "os.* builtins.open builtins.print "
    "sys.argv sys.stdin sys.stdout sys.stderr io.open pathlib.Path.cwd pathlib.Path.home "
    "subprocess.* socket.* requests.* httpx.* aiohttp.* urllib.request.* http.client.* sqlite3.* shutil.* tempfile.* "
    "threading.* multiprocessing.* concurrent.futures.* asyncio.* platform.* getpass.* importlib.import_module",
}
"""Full names by the rule that they break; ``*`` is anything."""
ALLOWED = ("os.path*", "os.sep", "os.fspath", "os.PathLike")
SEEDED = ("random.Random", "numpy.random.default_rng")
"""Generators, which repeat themselves where they are given a seed."""
FUNCTIONS = {"open", "print", "input", "exec", "eval"}
METHODS = {"open", "read_text", "write_text", "read_bytes", "write_bytes"}
BYPASSING = {"transaction", "_cells", "_effects"}


def forbidden_names(world: World, sources: Sequence[Source]) -> Iterator[WorldFinding]:
    """Yield the forbidden names in the modules of a world, each with its file and line."""
    on_import = runs_on_import(world, sources)
    for source in sources:
        imported = imports_in(source.tree, source.module)
        own = {item.name for item in ast.walk(source.tree) if isinstance(item, Function)}
        for part in source.tree.body:
            name = getattr(part, "name", "the module")
            found = {(line, rule): said for line, rule, said in _judged(part, imported, own)}
            for (line, rule), said in found.items():
                if rule != "outside_io" or not (name == "the module" or name in on_import):
                    yield WorldFinding(world.name, f"{source.file}:{line} in {name}", rule, f"uses {said}")


def _judged(part: ast.stmt, imported: dict[str, str], own: set[str]) -> Iterator[tuple[int, str, str]]:
    """Line, rule and name of everything forbidden in a statement, wherever it runs."""
    for item in ast.walk(part):
        if isinstance(item, ast.Call):
            name = ast.unparse(item.func).rpartition(".")[2]
            if name in (FUNCTIONS if isinstance(item.func, ast.Name) else METHODS) - own:
                yield item.lineno, "outside_io", f"{name}()"
            if dotted(item.func, imported) in SEEDED and not (item.args or item.keywords):
                yield item.lineno, "chance", f"{name}() without a seed"
        elif isinstance(item, ast.Attribute | ast.Name):
            path = dotted(item, imported)
            if isinstance(item, ast.Attribute) and item.attr in BYPASSING and ast.unparse(item.value) == "tx":
                yield item.lineno, "past_the_transaction", ast.unparse(item)
            for rule, names in FORBIDDEN.items() if path not in SEEDED else ():
                allowed = any(fnmatchcase(path, name) for name in ALLOWED)
                if not allowed and any(fnmatchcase(path, name) for name in names.split()):
                    yield item.lineno, rule, path
                    break
