"""Finding and loading scenarios.

Policy: a name is found by a scan of the texts, and of its file only its own entry is parsed, so that one scenario costs
itself and what it extends, however large the suite and the file are. Whatever lists names parses whole files, but none
of a world that was not asked for: the built-in files of the default world lie at the top, those of others in folders.
What was built is kept for later processes (``sandbox_scenarios.cache``), and what reads and builds is loaded only where
something is not kept.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.worlds import DEFAULT, JOINED
from sandbox_mcp.engine.worlds import names as worlds
from sandbox_scenarios.cache import SuiteCache, is_ours, stamp
from sandbox_scenarios.errors import ScenarioError, ScenarioFileError, UnknownScenarioError
from sandbox_scenarios.excerpt import excerpt
from sandbox_scenarios.homes import RECORDED, SERVER, home_of, is_named, name_of
from sandbox_scenarios.instances import MARK, is_label, split
from sandbox_scenarios.merge import alternative
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.problem import ProblemError, closest
from sandbox_scenarios.values import row_id

if TYPE_CHECKING:
    from sandbox_scenarios.drawing import Draws
    from sandbox_scenarios.files import ScenarioFile, ScenarioLink

BUILT_IN = Path(__file__).parent / "suite"
MOST_DRAWN = 1024
"""How many instances a suite holds in memory; those that were asked for longest ago are built again."""
BASES = BUILT_IN / "worlds"
"""Where the scenarios of the default world have what they extend."""
_WORLD = re.compile(r"world(?<!\wworld)[\"']?:[ \t]*[\"']?([a-z][a-z0-9_]*)")
_EXTENDS = re.compile(r"extends(?<!\wextends)[\"']?:\s*[\"']?([a-z][a-z0-9_]*)")
"""How a world and a base are named. They find too much, never too little. A word to begin with is looked for at once in
a text, where ``\\bworld`` would be tried at every character."""
_SEVERAL = re.compile(r"world(?<!\wworld)[\"']?:[ \t]*(?:\[|\r?\n[ \t]*-[ \t])")
"""How a list of worlds begins."""
_Given = TypeVar("_Given")
_Made = TypeVar("_Made")
_NAMING = r"name(?<!\wname)[\"']?:\s*[\"']?{}\b"
"""How a name is written, mostly. Finds too much: people have names as well."""


def _is_own(path: Path) -> bool:
    """True if a file is the caller's, and not one of the built-in suite."""
    return not path.is_relative_to(BUILT_IN)


def _text(path: Path) -> str:
    try:
        if not _is_own(path):
            stamp(str(path))
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScenarioFileError(str(path), None, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ScenarioFileError(str(path), None, f"is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _each(use: Callable[[_Given], _Made], items: Iterable[_Given]) -> list[_Made]:
    """Results of ``use`` for each; faults of files are raised together, after all have been tried."""
    made: list[_Made] = []
    faults: list[ScenarioFileError] = []
    for item in items:
        try:
            made.append(use(item))
        except ScenarioFileError as fault:
            faults.append(fault)
    if faults:
        raise ScenarioFileError.together(faults)
    return made


@cache
def _packaged(path: Path) -> "ScenarioFile":
    """A file of the built-in suite. It does not change while a process lives, so all suites share one reading of it."""
    from sandbox_scenarios.files import ScenarioFile

    return ScenarioFile(path, _text(path))


@dataclass(slots=True)
class _Known:
    """Files read so far, and what was made of them. ``names`` are by world; ``hinted`` are worlds and bases by file."""

    worlds: dict[str, World] = field(default_factory=dict[str, World])
    texts: dict[Path, str] = field(default_factory=dict[Path, str])
    files: "dict[Path, ScenarioFile]" = field(default_factory=dict[Path, Any])
    excerpted: set[Path] = field(default_factory=set[Path])
    built: dict[str, Scenario] = field(default_factory=dict[str, Scenario])
    drawn: deque[str] = field(default_factory=deque[str])
    places: "dict[str, tuple[ScenarioFile, int]]" = field(default_factory=dict[str, Any])
    chains: "dict[str, list[ScenarioLink]]" = field(default_factory=dict[str, list[Any]])
    homes: dict[str, str] = field(default_factory=dict[str, str])
    names: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    draws: "dict[tuple[str, int], Draws]" = field(default_factory=dict[tuple[str, int], Any])
    hinted: dict[Path, tuple[set[str], set[str]]] = field(default_factory=dict[Path, tuple[set[str], set[str]]])
    kept: SuiteCache | None = None


@cache
def _known_of(_built_in: Path) -> _Known:
    """Knowledge that suites without files or worlds of the caller's share: the built-in files stay as they are."""
    return _Known()


class Suite:
    """The scenarios in some files and folders; without any, the built-in suite."""

    def __init__(
        self,
        places: Iterable[Path | str] | Path | str = (),
        worlds: Iterable[World] = (),
        world: str = "",
        fill: str = "",
    ) -> None:
        """``worlds`` are found by name before those that are installed; ``world`` is the one listed.

        ``fill`` is a model that may answer for tapes of scenarios that name none.
        """
        self._fill = fill
        self._forgiving = False
        given = tuple(map(Path, (places,) if isinstance(places, Path | str) else places))
        self._places = (*given, BUILT_IN) if given else (BUILT_IN,)
        self._own = len(given)
        self._listed = world
        own = {item.name: item for item in worlds}
        self._known = _Known(own) if given or own else _known_of(BUILT_IN)

    @property
    def _texts(self) -> dict[Path, str]:
        """Every file as it is written; files given by the caller come before built-in ones."""
        if not self._known.texts:
            self._known.texts = {**self._own_texts, **{path: _text(path) for path in self._paths((BUILT_IN,))}}
        return self._known.texts

    @cached_property
    def _own_texts(self) -> dict[Path, str]:
        return {path: _text(path) for path in self._paths(self._places[: self._own])}

    @property
    def _kept(self) -> SuiteCache:
        """Results of earlier processes on these files.

        Nothing where that may be something else next time, as worlds that were given and tapes, nor where the caller
        gave folders without a file: an entry without a file is the built-in suite's.
        """
        if self._known.kept is None:
            nothing = self._own > 0 and not self._own_texts
            passing = (
                nothing
                or self._known.worlds
                or any(RECORDED in text or SERVER in text for text in self._own_texts.values())
            )
            self._known.kept = SuiteCache() if passing else SuiteCache.of(self._own_texts, BUILT_IN)
        return self._known.kept

    @staticmethod
    def _paths(places: Sequence[Path]) -> list[Path]:
        paths: list[Path] = []
        for place in places:
            if not place.exists():
                raise ScenarioFileError(
                    str(place), None, "does not exist; expected a scenario file or a folder of them"
                )
            found = sorted(place.rglob("*.yaml")) if place.is_dir() else [place]
            if not found and (other := min(place.rglob("*.yml"), default=None)):
                problem = f"has no file whose name ends in .yaml; rename {other.name} and its like, or name each file"
                raise ScenarioFileError(str(place), None, problem)
            paths += found
        return paths

    def own_files(self) -> tuple[Path, ...] | None:
        """The files that were given by the caller; None where worlds were, or the suite's value is of another kind.

        Raises:
            ScenarioFileError: a place does not exist.
        """
        return None if self._known.worlds else tuple(self._paths(self._places[: self._own]))

    def names(self, world: str = "") -> tuple[str, ...]:
        """The names of all scenarios that can be played, in the order of files and of each file.

        Of the caller's own files where there are any, otherwise of the built-in suite: there those of the default
        world. ``world`` is a world's name, or a pattern such as ``*``: only the scenarios of such worlds.

        Raises:
            ScenarioFileError: a file cannot be used, or two of the files have a scenario of the same name.
        """
        world = world or self._listed
        if world not in self._known.names:
            found = cast("tuple[str, ...] | None", self._kept.get("names", world, tuple))
            if found is None:
                paths = self._paths(self._places[: self._own]) if self._own else self._built_in(world or DEFAULT)
                names = self._playable(paths)
                found = tuple(name for name in names if fnmatchcase(self.world(name), world)) if world else names
                self._kept.put("names", world, found, map(str, self._paths((BUILT_IN,))))
            self._known.names[world] = found
        return self._known.names[world]

    def worlds_played(self) -> tuple[str, ...]:
        """The names of the worlds of all scenarios in these files that can be played, each once.

        Raises like :meth:`names`.
        """
        found = cast("tuple[str, ...] | None", self._kept.get("worlds", "*", tuple))
        if found is None:
            found = tuple(dict.fromkeys(map(self.world, self.names("*"))))
            self._kept.put("worlds", "*", found, map(str, self._paths((BUILT_IN,))))
        return found

    def tagged(self, pattern: str) -> tuple[str, ...]:
        """The names of all scenarios that can be played and have a tag that fits a pattern, whatever their world.

        Only files in which there are tags are read. Raises like :meth:`names`.
        """
        paths = self._paths(self._places[: self._own] or (BUILT_IN,))
        files = self._files([path for path in paths if "tags" in self._texts[path]])
        entries = ((name, file.entries[number]) for file in files for name, number in file.index.items())
        return tuple(
            name
            for name, entry in entries
            if not entry.get("abstract") and any(fnmatchcase(tag, pattern) for tag in entry.get("tags") or ())
        )

    @cached_property
    def home(self) -> World:
        """The world of the scenarios that :meth:`names` lists, by a scan of the texts.

        Raises:
            ScenarioError: there are several, or it cannot be found.
        """
        own = (self._worlds_in(path, ()) or {DEFAULT} for path in self._paths(self._places[: self._own]))
        known = (*worlds(), *self._known.worlds)
        seeming = set[str]().union(*own)
        names = [self._listed] if self._listed else sorted(name for name in seeming if name in known or JOINED in name)
        if len(names) > 1:
            told = f"the scenarios are played in several worlds ({', '.join(names)})"
            raise ScenarioError(f"{told}; name one with --world")
        try:
            return home_of(next(iter(names), DEFAULT), self._known.worlds)
        except ProblemError as problem:
            raise ScenarioError(problem.text) from problem

    def world(self, name: str) -> str:
        """The name of the world that a scenario or base is played in. Raises like :meth:`get`, but for bases."""
        found = self._find(split(name)[0])
        if found is None:
            raise UnknownScenarioError(name, self._every_name())
        return self._world_of(*found, (name,))

    def _world_of(self, file: "ScenarioFile", number: int, via: tuple[str, ...]) -> str:
        """The world named by an entry, or else by its nearest base; rows under ``world`` mean the default one."""
        written, base = file.entries[number].get("world"), file.entries[number].get("extends")
        if written or base is None or base in via:
            return self._named_by(file, number)
        if base not in self._known.homes:
            found = self._find(base)
            self._known.homes[base] = self._world_of(*found, (*via, base)) if found else DEFAULT
        return self._known.homes[base]

    def _named_by(self, file: "ScenarioFile", number: int) -> str:
        """The name of the world that an entry names; the world of a tape is found by that name from then on."""
        written = file.entries[number].get("world")
        try:
            name = name_of(written, self._known.worlds)
            if isinstance(written, str) or name in self._known.worlds or is_ours(name) or not is_named(written):
                return name
            home = home_of(written, self._known.worlds)
        except ProblemError as problem:
            line = file.lines.of(("scenarios", number, *problem.path))
            told = f"scenario {file.entries[number]['name']!r}: {problem.text}"
            raise ScenarioFileError(file.path, line, told) from problem
        self._known.worlds[home.name] = home
        return home.name

    def _built_in(self, world: str) -> list[Path]:
        """The built-in files that may have scenarios of such worlds."""
        paths = self._paths((BUILT_IN,))
        return [path for path in paths if any(fnmatchcase(name, world) for name in self._worlds_in(path, ()))]

    def _worlds_in(self, path: Path, via: tuple[Path, ...]) -> set[str]:
        """The worlds that a file, or what its entries extend, seems to name, without reading it."""
        if path.parent in (BUILT_IN, BASES):
            return {DEFAULT}
        if path not in self._known.hinted:
            text = self._texts[path]
            self._known.hinted[path] = set(_WORLD.findall(text)), set(_EXTENDS.findall(text))
        hinted, bases = self._known.hinted[path]
        found = set(hinted)
        text = self._texts[path]
        if _SEVERAL.search(text) or ((RECORDED in text or SERVER in text) and not path.is_relative_to(BUILT_IN)):
            file = self._file(path)
            homes = ((number, entry.get("world")) for number, entry in enumerate(file.entries))
            made = [number for number, home in homes if not isinstance(home, str) and is_named(home)]
            found.update(self._named_by(file, number) for number in made)
        for base in bases:
            homes = [other for other in self._seeming.get(base, ()) if other not in (path, *via)]
            found = found.union(*(self._worlds_in(other, (path, *via)) for other in homes))
        return found

    def _playable(self, paths: Iterable[Path]) -> tuple[str, ...]:
        homes: dict[str, str] = {}
        for file in self._files(paths):
            for name, number in file.index.items():
                if file.entries[number].get("abstract"):
                    continue
                if homes.setdefault(name, file.path) != file.path:
                    line = file.lines.of(("scenarios", number, "name"))
                    raise ScenarioFileError(file.path, line, f"scenario {name!r} also stands in {homes[name]}")
        return tuple(homes)

    def get(self, name: str) -> Scenario:
        """One scenario.

        Raises:
            UnknownScenarioError: no scenario has that name.
            ScenarioFileError: its file cannot be used.
        """
        if name not in self._known.built:
            built = self._kept.get("scenario", name, Scenario)
            kept = built is not None
            if built is None:
                plain, instance = split(name)
                found = self._known.places.get(plain) or self._find(plain)
                if found is None or found[0].entries[found[1]].get("abstract"):
                    raise UnknownScenarioError(name, self._every_name(), abstract=found is not None)
                if instance:  # there will be more of it
                    self._known.places[plain] = found
                built = self._build(*found, instance)
                files = dict.fromkeys(link.file.path for link in self._chain(*found, ()))
                made = built.generated  # by code, of which nothing is known here
                kept = not made and self._kept.put(
                    "scenario", name, built, [file for file in files if not _is_own(Path(file))]
                )
            if kept:  # it knows where, so that what is worked out from it can be kept beside it
                object.__setattr__(built, "cache", self._kept)
            self._known.built[name] = built
            if MARK in name:  # training draws instances without end
                self._known.drawn.append(name)
                if len(self._known.drawn) > MOST_DRAWN:
                    self._known.built.pop(self._known.drawn.popleft(), None)
        return self._known.built[name]

    def all(self, world: str = "") -> tuple[Scenario, ...]:
        """Every scenario that :meth:`names` lists. Raises like :meth:`load`."""
        return self.load(self.names(world))

    def load(self, names: Iterable[str]) -> tuple[Scenario, ...]:
        """Some scenarios.

        Raises:
            UnknownScenarioError: a name is unknown.
            ScenarioFileError: files cannot be used; it has the faults of all these scenarios.
        """
        return tuple(_each(self.get, names))

    def place(self, name: str, path: Sequence[str | int] = ()) -> tuple[str, int]:
        """The file and line where a part of a scenario is written, in the base it inherits that part from if need be.

        ``path`` leads from the scenario down, such as ``("user", "opening")``. Raises like :meth:`get`.
        """
        from sandbox_scenarios.files import place_in

        _, file, line = place_in(self._links(name), path)
        return file, line

    def lineage(self, name: str) -> tuple[str, ...]:
        """The scenario and all it extends, nearest first. Raises like :meth:`get`."""
        return tuple(str(link.entry["name"]) for link in self._links(name))

    def family(self, name: str) -> str:
        """The family that the file of a scenario or base names. Raises like :meth:`get`, but for bases."""
        return self._links(name)[0].file.family

    def original(self, name: str) -> str | None:
        """The scenario that a scenario branches from; None if it branches from a base, or from nothing.

        Raises like :meth:`get`, but for bases.
        """
        links = self._links(name)[1:2]
        return str(links[0].entry["name"]) if links and not links[0].entry.get("abstract") else None

    def drawn(self, name: str) -> Mapping[str, str]:
        """The literals that an instance replaces, each with what was drawn for it. Raises like :meth:`get`."""
        chain, (plain, instance) = self._links(name), split(name)
        merged = {**chain[0].merged(), "name": plain}
        return (
            {}
            if merged.get("generate") or not instance
            else self._draws(plain, merged, instance).words(plain, instance)
        )

    def labels(self, name: str) -> Mapping[str, str]:
        """The id of every row of a scenario's or base's world that has a label, to ``table.label``.

        Raises like :meth:`get`, but for bases, which have one too.
        """
        from sandbox_scenarios.rows import labels_of

        chain, instance = self._links(name), split(name)[1]
        merged = self._instance(chain, instance) if chain[0].merged().get("generate") else chain[0].merged()
        world: Any = merged.get("world") or {}
        home = home_of(world, self._known.worlds)
        under_world = bool(world) and not is_named(world)
        written: dict[str, Any] = merged["world"] if under_world else merged.get("state") or {}
        rows = ((table, label) for table, labelled in written.items() for label in labels_of(home, table, labelled))
        return {row_id(table, label, instance): f"{table}.{label}" for table, label in rows}

    def base(self, name: str) -> Scenario:
        """A base world as a scenario without a wish. Raises like :meth:`get`, also where it is no state by itself."""
        from sandbox_scenarios.build import build
        from sandbox_scenarios.files import faults_in
        from sandbox_scenarios.schema import RawScenario

        chain = self._links(name)
        merged = {**chain[0].merged(), "name": name, "user": {"goal": "-", "opening": "-"}}
        try:
            return build(RawScenario.model_validate(merged), merged, chain[0].file.path, 0, self._known.worlds)
        except ProblemError as problem:
            raise ScenarioFileError.together(faults_in(chain, (problem, *problem.more))) from problem

    def bases(self) -> tuple[str, ...]:
        """The base worlds that scenarios branch from, the caller's own and the built-in, each once.

        Raises like :meth:`get`.
        """
        return tuple(dict.fromkeys(self.lineage(name)[-1] for name in self._every_name()))

    def _links(self, name: str) -> "list[ScenarioLink]":
        found = self._find(split(name)[0])
        if found is None:
            raise UnknownScenarioError(name, self._every_name())
        return self._chain(*found, ())

    def _file(self, path: Path) -> "ScenarioFile":
        if path not in self._known.files:
            self._known.files[path] = self._own_file(path) if _is_own(path) else _packaged(path)
        return self._known.files[path]

    def _own_file(self, path: Path) -> "ScenarioFile":
        """Read one of the caller's files; where its form is wrong, the error tells what else is to mend in it."""
        from sandbox_scenarios.files import ScenarioFile

        try:
            return ScenarioFile(path, self._texts[path], self._fill)
        except ScenarioFileError as fault:
            if self._forgiving:
                raise
            rest: list[ScenarioFileError] = []
            with suppress(ScenarioFileError):
                rest += self._unfitting(ScenarioFile(path, self._texts[path], self._fill, forgiving=True))
            raise ScenarioFileError.together([fault, *rest]) from fault

    def _files(self, paths: Iterable[Path]) -> "list[ScenarioFile]":
        """Read some files; where one of the caller's cannot be used, the error tells the faults of the others."""
        wanted = list(paths)
        try:
            return _each(self._file, wanted)
        except ScenarioFileError as fault:
            sound = [file for path in wanted if _is_own(path) and (file := self._known.files.get(path))]
            others = (one for file in sound for one in self._unfitting(file))
            raise ScenarioFileError.together([fault, *others]) from fault

    def _unfitting(self, file: "ScenarioFile") -> Iterator[ScenarioFileError]:
        """Faults in those scenarios of a file that can be read."""
        from sandbox_scenarios.build import problems
        from sandbox_scenarios.files import faults_in
        from sandbox_scenarios.schema import RawScenario

        reader = Suite(self._places[: self._own], fill=self._fill)
        known = _Known(self._known.worlds, self._texts, {**self._known.files, Path(file.path): file})
        reader._known, reader._forgiving = known, True
        for number, entry in enumerate(file.entries):
            try:
                chain = reader._chain(file, number, ())
            except ScenarioFileError as fault:
                if entry.get("extends") not in reader._seeming:
                    yield fault
                continue
            unread = any(link.file is file and () in file.left_out.get(link.number, ()) for link in chain)
            if unread or entry.get("abstract") or chain[0].merged().get("generate"):
                continue
            raw = RawScenario.model_validate({**chain[0].merged(), "name": entry["name"]})
            found, out = problems(raw, self._known.worlds), file.left_out.get(number, ())
            found = [item for item in found if not any(item.path[: len(path)] == path for path in out)]
            yield from faults_in(chain, found)

    def _file_with(self, path: Path, name: str) -> "ScenarioFile":
        """An excerpt with that entry where the file can be cut and the entry has no fault, else the whole file.

        From the second entry on it is the whole file, unless that has a fault elsewhere: an excerpt serves one entry.
        """
        from sandbox_scenarios.files import ScenarioFile

        if path in self._known.files:
            return self._known.files[path]
        if path in self._known.excerpted:
            with suppress(ScenarioFileError):
                return self._file(path)
        self._known.excerpted.add(path)
        text = excerpt(self._texts[path], name)
        if text is not None:
            with suppress(ScenarioFileError):
                return ScenarioFile(path, text, self._fill)
        return self._file(path)

    def _every_name(self) -> tuple[str, ...]:
        own, built_in = self._paths(self._places[: self._own]), self._paths((BUILT_IN,))
        return tuple(dict.fromkeys((*self._playable(own), *self._playable(built_in))))

    def _find(self, name: str) -> "tuple[ScenarioFile, int] | None":
        """Place of an entry. A name that the scan did not see may be written in a way it does not know."""
        for path in self._candidates(name):
            try:
                file = self._file_with(path, name)
            except ScenarioFileError:
                if self._forgiving:
                    continue  # what is wrong with it is told of itself
                raise
            if name in file.index:
                return file, file.index[name]
        return None

    def _candidates(self, name: str) -> Iterator[Path]:
        # The files that seem to have an entry of that name, and those that were read and have.
        for path, text in self._texts.items():
            file = self._known.files.get(path)
            if name in file.index if file else name in text and re.search(_NAMING.format(re.escape(name)), text):
                yield path
        yield from self._texts

    @cached_property
    def _seeming(self) -> dict[str, list[Path]]:
        """Names that the files seem to have, without reading them, and in which files."""
        naming = re.compile(_NAMING.format("([a-z][a-z0-9_]*)"))
        found = dict[str, list[Path]]()
        for path, text in self._texts.items():
            for name in dict.fromkeys(naming.findall(text)):
                found.setdefault(name, []).append(path)
        return found

    def _build(self, file: "ScenarioFile", number: int, instance: str = "") -> Scenario:
        from sandbox_scenarios.build import build
        from sandbox_scenarios.files import faults_in
        from sandbox_scenarios.generating import made_valid
        from sandbox_scenarios.schema import RawScenario

        chain = self._chain(file, number, ())
        try:
            merged = self._instance(chain, instance)
            line = file.lines.of(("scenarios", number))
            raw = made_valid(merged) if merged.get("generate") else RawScenario.model_validate(merged)
            return build(raw, merged, file.path, line, self._known.worlds, instance)
        except ProblemError as problem:
            raise ScenarioFileError.together(faults_in(chain, (problem, *problem.more))) from problem

    def _instance(self, chain: "list[ScenarioLink]", instance: str) -> dict[str, Any]:
        """An entry with all that it inherits, made by its generator if it has one, as an instance has it.

        Raises:
            ProblemError: there is no such instance, or its generator cannot be used.
        """
        name = str(chain[0].entry["name"])
        merged = {**chain[0].merged(), "name": name}
        if instance and not is_label(instance):
            raise ProblemError(("name",), f"instance {instance!r} cannot be; expected letters and digits as in @7")
        if merged.get("generate"):
            from sandbox_scenarios.generating import generated

            folder = next(Path(link.file.path).parent for link in chain if "generate" in link.entry)
            return generated(merged, folder, instance)
        return self._draws(name, merged, instance).merged(name, instance) if instance else merged

    def _draws(self, name: str, merged: dict[str, Any], instance: str) -> "Draws":
        """What can be drawn in a scenario, or in the alternative that an instance has; worked out once."""
        others = cast("list[dict[str, Any]]", merged.get("choose") or [])
        chosen = Random(f"{name}/{instance}/choose").randrange(len(others) + 1) if others else 0  # noqa: S311
        if (name, chosen) not in self._known.draws:
            from sandbox_scenarios.drawing import Draws

            merged = alternative(merged, others[chosen - 1]) if chosen else merged
            home = home_of(merged.get("world") or {}, self._known.worlds)
            self._known.draws[name, chosen] = Draws(merged, home)
        return self._known.draws[name, chosen]

    def _chain(self, file: "ScenarioFile", number: int, via: tuple[str, ...]) -> "list[ScenarioLink]":
        """An entry and all it extends, nearest first."""
        from sandbox_scenarios.files import ScenarioLink

        entry = file.entries[number]
        name, base = str(entry["name"]), entry.get("extends")
        if base is None:
            return [ScenarioLink(file, number, {})]
        circular = base in (*via, name)
        rest = None if circular else self._known.chains.get(base)
        if rest is None:
            found = None if circular else self._find(base)
            if found is None:
                why_not = f"unknown {base!r}; {closest(base, self._seeming)}"
                if base in (*via, name):  # told alike wherever the circle was entered
                    circle = (*via, name)[(*via, name).index(base) :]
                    first = circle.index(min(circle))
                    circle = (*circle[first:], *circle[:first])
                    name, why_not = circle[-1], f"itself by way of {' > '.join((*circle, circle[0]))}"
                    file, number = self._find(name) or (file, number)
                line = file.lines.of(("scenarios", number, "extends"))
                raise ScenarioFileError(file.path, line, f"scenario {name!r}: extends {why_not}")
            rest = self._known.chains[base] = self._chain(*found, (*via, name))
        return [ScenarioLink(file, number, rest[0].merged()), *rest]
