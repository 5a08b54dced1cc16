"""Record what live sources answer, and replay it offline.

Policy: a question is its domain, its method and its canonical arguments: defaults filled in, coordinates to four
decimals, the time to the full hour, codes in upper case, names in lower case with single spaces. While recording,
what has been answered is not asked again; what was unavailable is. A replay gives each question's records in order,
then the last one again, and refuses what was never recorded.
"""

import inspect
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib import import_module
from math import floor
from pathlib import Path
from threading import Lock
from typing import Any, get_type_hints

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.worlds.phone.knowledge import errors
from sandbox_mcp.engine.worlds.phone.knowledge.bundle import DOMAINS, Knowledge
from sandbox_mcp.engine.worlds.phone.knowledge.errors import (
    KnowledgeError,
    KnowledgeUnavailable,
    QuestionTapeError,
    ReplayMissError,
)
from sandbox_mcp.engine.worlds.phone.knowledge.live import answering

Ask = Callable[[str, Mapping[str, Any]], Any]
"""Answers a question, given the method's name and its arguments by name."""

_COORDINATES = frozenset({"latitude", "longitude", "latitude_0", "longitude_0", "latitude_1", "longitude_1"})
_CODES = frozenset({"from_currency_code", "to_currency_code", "country"})
_NAMES = frozenset({"holiday_name", "text", "query"})


def record(knowledge: Knowledge, tape: Path, domains: Collection[str] = DOMAINS) -> Knowledge:
    """Knowledge that answers as the one given, and appends every answer of the named domains to the file ``tape``.

    Raises:
        QuestionTapeError: the file exists and is not a tape, or a domain is unknown.
    """
    _check(domains)
    recorder = _Recorder(tape)
    sources: dict[str, Any] = {name: getattr(knowledge, name) for name in DOMAINS}
    sources |= {name: _Proxy(name, recorder.asking(name, sources[name])) for name in domains}
    return Knowledge(**sources)


def replay(tape: Path, domains: Collection[str] = DOMAINS) -> Knowledge:
    """Knowledge whose named domains answer from the file ``tape`` alone; the others are the offline sources.

    Raises:
        QuestionTapeError: the file cannot be read or is not a tape, or a domain is unknown.
    """
    _check(domains)
    replayer = _Replayer(tape)
    sources: dict[str, Any] = {name: _Proxy(name, replayer.asking(name)) for name in domains}
    return Knowledge(**sources)


def question(domain: str, method: str, arguments: Mapping[str, Any]) -> str:
    """The canonical JSON that names a question."""
    canonical = {name: _canonical(name, value) for name, value in arguments.items()}
    return _json({"domain": domain, "method": method, "arguments": canonical})


class _Proxy:
    """Stands in for a source: has the methods of its domain's protocol, and hands their arguments on by name."""

    def __init__(self, domain: str, ask: Ask) -> None:
        self._domain, self._ask = domain, ask

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("_"):
            raise AttributeError(method)
        signature = inspect.signature(getattr(_protocol(self._domain), method))

        def asked(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            return self._ask(method, dict(list(bound.arguments.items())[1:]))

        return asked


class _Recorder:
    """Asks a source what it has not answered yet, and writes down what it says."""

    def __init__(self, tape: Path) -> None:
        self._tape, self._lock = tape, Lock()
        lines = _lines(tape) if tape.exists() else iter(())
        self._settled = {_key(line): line for line in lines if _is_settled(line)}
        _cut_to_whole_lines(tape)

    def asking(self, domain: str, source: Any) -> Ask:
        def ask(method: str, arguments: Mapping[str, Any]) -> Any:
            key = question(domain, method, arguments)
            line = self._settled.get(key)
            if line is None:
                answered = loads(key) | _outcome(domain, method, source, arguments)
                with self._lock:
                    line = self._settled.get(key)  # which another thread may have asked meanwhile
                    if line is None:
                        line = answered
                        with self._tape.open("a", encoding="utf-8", newline="\n") as file:
                            file.write(_json(line) + "\n")
                        if _is_settled(line):
                            self._settled[key] = line
            return _told(line)

        return ask


class _Replayer:
    """Answers from a tape."""

    def __init__(self, tape: Path) -> None:
        self._tape, self._lock = tape, Lock()
        self._records: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for line in _lines(tape):
            self._records[_key(line)].append(line)

    def asking(self, domain: str) -> Ask:
        def ask(method: str, arguments: Mapping[str, Any]) -> Any:
            key = question(domain, method, arguments)
            with self._lock:
                records = self._records.get(key)
                if not records:
                    raise ReplayMissError(key, str(self._tape), len(self._records))
                line = records.pop(0) if len(records) > 1 else records[0]
            return _told(line)

        return ask


def _outcome(domain: str, method: str, source: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The source's answer or error, as it goes on the tape."""
    try:
        with answering(type(source).__name__):
            answer = getattr(source, method)(**arguments)
        return {"answer": _adapter(domain, method).dump_python(answer, mode="json")}
    except KnowledgeError as error:
        parameters = list(inspect.signature(type(error).__init__).parameters)[1:]
        return {"error": {"type": type(error).__name__, "data": {name: getattr(error, name) for name in parameters}}}


def _told(line: Mapping[str, Any]) -> Any:
    """Read a line: the answer is returned, the error raised."""
    if "error" in line:
        raise getattr(errors, line["error"]["type"])(**line["error"]["data"])
    return _adapter(line["domain"], line["method"]).validate_python(line["answer"])


def _is_settled(line: Mapping[str, Any]) -> bool:
    return "answer" in line or line["error"]["type"] != KnowledgeUnavailable.__name__


def _lines(tape: Path) -> Iterator[dict[str, Any]]:
    """The lines of a tape; one that a crash cut off at the end is left out.

    Raises:
        QuestionTapeError: the file cannot be read, or a line is not a record.
    """
    try:
        *texts, _ = tape.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else error
        raise QuestionTapeError(f"cannot read the tape {str(tape)!r}: {reason}") from error
    for number, text in enumerate(texts, 1):
        try:
            line: Any = loads(text)
            known = line["domain"] in DOMAINS and hasattr(_protocol(line["domain"]), line["method"])
            error = line["error"]["type"] if "answer" not in line else "KnowledgeError"
            usable = known and isinstance(line["arguments"], dict) and hasattr(errors, error)
        except (ValueError, LookupError, TypeError):
            line, usable = {}, False
        if not usable:
            told = f"not a record of a question and its answer: {text.strip()[:80]!r}"
            raise QuestionTapeError(f"{tape}:{number}: {told}")
        yield line


def _cut_to_whole_lines(tape: Path) -> None:
    """Remove what a crash left of a last line, so that the next one does not go on from there."""
    if tape.exists():
        data = tape.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with tape.open("r+b") as file:
                file.truncate(whole)


def _key(line: Mapping[str, Any]) -> str:
    return _json({name: line[name] for name in ("domain", "method", "arguments")})


def _canonical(name: str, value: Any) -> Any:
    if isinstance(value, str):
        text = " ".join(value.split())
        return text.upper() if name in _CODES else text.casefold() if name in _NAMES else text
    if name == "now":
        return floor(value / 3600) * 3600
    if name in _COORDINATES:
        value = round(value, 4) + 0.0
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _check(domains: Collection[str]) -> None:
    for name in domains:
        if name not in DOMAINS:
            raise QuestionTapeError(f"unknown domain {name!r}; known: {', '.join(DOMAINS)}")


def _protocol(domain: str) -> type[Any]:
    """Protocol of a source of a domain, such as ``HolidaySource`` of "holidays"."""
    module = import_module(f"sandbox_mcp.engine.worlds.phone.knowledge.{domain}")
    return getattr(module, f"{domain.removesuffix('s').capitalize()}Source")


@cache
def _adapter(domain: str, method: str) -> Any:
    """Turns answers of a method into JSON and back."""
    from pydantic import TypeAdapter

    return TypeAdapter(get_type_hints(getattr(_protocol(domain), method))["return"])
