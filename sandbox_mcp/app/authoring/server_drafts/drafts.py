"""A file of drafted scenarios for a live server: each usable tool once, and pairs of them.

Policy: every written draft was played. A draft stays only if its solution scores 1 and a refusing agent gets nothing;
a milestone that the proof does not meet is taken out before the draft is given up. What was left out is named in the
file, with the reason, and what only an author can do stands at its top.
"""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from os.path import relpath
from pathlib import Path
from typing import Any

from sandbox_grader.milestones.baselines import refusing
from sandbox_grader.milestones.strict import FULL, StrictResult, evaluate
from sandbox_scenarios import Suite

from sandbox_mcp.app.authoring.drafting.draft import WIDTH
from sandbox_mcp.app.authoring.drafting.words import free_name, snake
from sandbox_mcp.app.authoring.learning import learn
from sandbox_mcp.app.authoring.server_drafts.milestones import held, milestones_of
from sandbox_mcp.app.authoring.server_drafts.starts import TrialStarts
from sandbox_mcp.app.authoring.server_drafts.survey import Survey, Usable, play, survey
from sandbox_mcp.app.authoring.server_drafts.values import AnswerPlace, Pool
from sandbox_mcp.app.authoring.server_drafts.wording import DraftingModel, DraftWords, plain_words
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.whole_files import write_whole
from sandbox_mcp.engine.worlds.recorded.live import FOLDER, HERE, LiveServer, names_folder
from sandbox_mcp.engine.worlds.recorded.observed import columns_in
from sandbox_mcp.play.session.rehearsal import RehearsalStage

TO_DO = (
    "goal, opening: put them as a person would, without giving away how",
    "knows, does_not_know: say where the user's knowledge ends",
    "milestones: keep what matters; accept other wordings and other routes",
)
CLOCK = "{now: 2026-03-02 09:00:00, zone: UTC}"


@dataclass(frozen=True, slots=True)
class DraftedFile:
    """A written file: the names of its scenarios, and why tools and drafts were left out, by name."""

    path: Path
    names: tuple[str, ...]
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """A wish for drafts: the world as a scenario has it, and values by the names of arguments."""

    config: Mapping[str, Any]
    out: Path
    values: Mapping[str, str]
    skipped: frozenset[str]
    pairs: int
    model: str | None = None


def draft_for_server(wanted: DraftRequest, tell: Callable[[str], None]) -> DraftedFile:
    """Ask a server for its tools, try them, and write what can be done with them as scenarios.

    Raises:
        SandboxError: the server cannot be started, none of its tools could be used, or the file cannot be written.
    """
    here = wanted.out.resolve().parent
    model = DraftingModel(wanted.model) if wanted.model else None
    server = LiveServer.reading(wanted.config, here)
    files = server.files
    inside = sorted(item for item in files.rglob("*") if item.is_file() and ".git" not in item.parts) if files else []
    names = [item.relative_to(files).as_posix() for item in inside[:20]] if files else []
    pool = Pool(wanted.values, names, server.own_folder)
    with TrialStarts(server) as starts:
        found = survey(starts, pool, wanted.skipped, model.suggest if model else None, tell)
        _name_columns(found)
        pairs = [*_pairs(found, wanted.pairs, tell)]
    left_out = dict(found.left_out)
    family = server.name
    drafts: dict[str, dict[str, Any]] = {}
    for usable in (*found.usable, *pairs):
        name = free_name(snake(f"{family}_{'_then_'.join(step.tool.name for step in usable.steps)}")[:80], drafts)
        words = model.words(usable) if model else plain_words(usable.steps)
        drafts[name] = _entry(name, f"{family}_base", usable, words, observed=bool(found.observers))
    if not drafts:
        told = "; ".join(f"{name}: {why}" for name, why in list(left_out.items())[:3])
        raise SandboxError(f"no tool of the server could be used: {told}")
    base = {"name": f"{family}_base", "abstract": True, "world": found.config, "clock": CLOCK}
    _write(wanted.out, family, base, drafts, left_out)
    learn([wanted.out], lambda _: None, again=True)
    for failed, why in _unproven(wanted.out, drafts, tell):
        left_out[failed] = why
        drafts.pop(failed)
    _write(wanted.out, family, base, drafts, left_out)
    if not drafts:
        raise SandboxError(f"no draft could be proven; {wanted.out} says why")
    return DraftedFile(wanted.out, tuple(drafts), left_out)


def live_config(
    server: str, out: Path, files: Path | None, reset: Sequence[Any], more: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The world of a scenario file for a server named where the command is typed.

    Paths count from the file, and a command gets a folder of its own for each session, empty unless it has ``files``.
    """
    here = out.resolve().parent
    said: dict[str, Any] = {"server": server}
    steps: list[Any] = list(reset)
    if not server.startswith(("http://", "https://")):
        words = [
            f"{{here}}/{Path(relpath(word, here)).as_posix()}"
            if not word.startswith("/") and Path(word).is_file()
            else word
            for word in shlex.split(server)
        ]
        said["server"] = " ".join(word if word.startswith(HERE) else shlex.quote(word) for word in words)
        if files is not None:
            said["files"] = Path(relpath(files, here)).as_posix()
        elif not any(map(names_folder, (*words, *map(str, reset)))):
            steps.insert(0, f"mkdir -p {FOLDER}")
    if steps:
        said["reset"] = steps[0] if len(steps) == 1 else steps
    return {**said, **{name: list(found) for name, found in more.items() if found}}


def _name_columns(found: Survey) -> None:
    """Name the columns of tables that were empty at first, by the rows that calls have added."""
    for place, item in enumerate(found.observers):
        changes = [change for one in found.usable for played in one.once for change in played.changes]
        rows = [held(change.after) for change in changes if change.table == item.table and change.after is not None]
        if not item.columns and rows:
            found.observers[place] = replace(item, columns=columns_in(rows, "", None), named=True)


def _pairs(found: Survey, most: int, tell: Callable[[str], None]) -> Iterator[Usable]:
    """Pairs of tools that work one after the other, each tool about as often as the others."""
    alone = [item for item in found.usable if len(item.steps) == 1]
    used = {item.steps[0].tool.name: 0 for item in alone}
    wanted = [(one, other) for one, other in permutations(alone, 2) if one.steps[0].acts or other.steps[0].acts]
    made = 0
    while wanted and made < most:
        one, other = min(wanted, key=lambda pair: sum(used[item.steps[0].tool.name] for item in pair))
        wanted.remove((one, other))
        steps = (*one.steps, *other.steps)
        plays = play(found, steps)
        if len(plays) < 2 or (steps[1].acts and bool(other.once[0].changes) != bool(plays[0][1].changes)):
            continue
        made += 1
        tell(f"paired {made} of at most {most}: {steps[0].tool.name}, {steps[1].tool.name}")
        for step in steps:
            used[step.tool.name] += 1
        yield Usable(steps, *plays)


def _entry(name: str, base: str, usable: Usable, words: DraftWords, *, observed: bool) -> dict[str, Any]:
    said = " ".join((words.opening, *words.knows))
    made = milestones_of(usable, said, observed=observed)
    calls = list(_calls(usable))
    several = "multiple_tool_call" if len(calls) > 1 else "single_tool_call"
    reply = " ".join(("That is done.", *made.facts)) if any(s.acts for s in usable.steps) else " ".join(made.facts)
    tools = list(dict.fromkeys(call["tool"] for call in calls))
    return {
        "name": name,
        "extends": base,
        "about": f"Drafted: {' and then '.join(step.tool.name for step in usable.steps)}.",
        "categories": [several, "single_user_turn"],
        "tools": tools,
        "user": {
            "goal": words.goal,
            "opening": words.opening,
            "knows": list(words.knows),
            "does_not_know": list(words.does_not_know),
        },
        "reference": [{"turns": [{"calls": calls, "reply": reply or "That is done."}]}],
        "milestones": list(made.entries),
    }


def _calls(usable: Usable) -> Iterator[dict[str, Any]]:
    """The calls of a solution, each after those that look its values up."""
    labels: dict[str, str] = {}

    def key(tool: str, arguments: Mapping[str, Any]) -> str:
        return f"{tool} {sorted(arguments.items(), key=lambda pair: pair[0])!r}"

    needed = {
        key(item.source.tool, item.source.arguments)
        for step in usable.steps
        for item in step.arguments.values()
        if item.source is not None
    }

    def labelled(tool: str, arguments: Mapping[str, Any], call: dict[str, Any]) -> dict[str, Any]:
        known = key(tool, arguments)
        if known in needed and known not in labels:
            labels[known] = free_name("found", labels.values())
            return {**call, "as": labels[known]}
        return call

    def looked_up(source: AnswerPlace) -> dict[str, Any] | None:
        if key(source.tool, source.arguments) in labels:
            return None
        given = {"arguments": dict(source.arguments)} if source.arguments else {}
        return labelled(source.tool, source.arguments, {"tool": source.tool, **given})

    for step in usable.steps:
        arguments: dict[str, Any] = {}
        for name, item in step.arguments.items():
            if item.source is None:
                arguments[name] = item.value
                continue
            look = looked_up(item.source)
            if look is not None:
                yield look
            label = labels[key(item.source.tool, item.source.arguments)]
            arguments[name] = f"${'.'.join((label, *map(str, item.source.path)))}"
        call = {"tool": step.tool.name, **({"arguments": arguments} if arguments else {})}
        yield labelled(step.tool.name, step.plain, call)


def _unproven(
    out: Path, drafts: Mapping[str, dict[str, Any]], tell: Callable[[str], None]
) -> Iterator[tuple[str, str]]:
    """The drafts that do not hold, with the reason; milestones that are not met are taken out of the others."""
    suite, whole = Suite([out]), len(drafts)
    for number, (name, entry) in enumerate(list(drafts.items()), 1):
        scenario = suite.get(name)
        result = evaluate(scenario, RehearsalStage(scenario).rehearse(scenario.solutions[0]).log)
        nothing = evaluate(scenario, refusing(scenario)).score
        tell(f"proved {number} of {whole}: {name} scores {result.score:.3f}")
        if why := _mended(entry, result, nothing):
            yield name, why


def _mended(entry: dict[str, Any], result: StrictResult, nothing: float) -> str | None:
    """Reason why a draft cannot stay, after milestones that were not met have been taken out."""
    if nothing > 0:
        return f"an agent that refuses gets {nothing:.3f}"
    if result.unwanted:
        tables = ", ".join(dict.fromkeys(change.table for change in result.unwanted))
        return f"its calls change more than can be asked for, in {tables}"
    if result.score >= FULL:
        return None
    met = [
        milestone
        for number, milestone in enumerate(entry["milestones"])
        if (place := result.placed.get(number)) is not None and place.similarity >= FULL
    ]
    known = {milestone["id"] for milestone in met}
    deeds = [milestone for milestone in met if "message" not in milestone]
    if not deeds or any(set(milestone.get("after", ())) - known for milestone in met):
        return f"its solution scores {result.score:.3f}"
    entry["milestones"] = met
    return None


def _write(
    out: Path, family: str, base: Mapping[str, Any], drafts: Mapping[str, Any], left_out: Mapping[str, str]
) -> None:
    import yaml

    head = ["# Drafted by trying the server's tools. Left to do:", *(f"# - {line}" for line in TO_DO)]
    head += [f"# left out: {name} ({' '.join(why.split())})" for name, why in left_out.items()]

    class Plain(yaml.SafeDumper):
        """Writes a value that stands in several places out in each of them."""

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the name that it is called by
            return True

    text = yaml.dump(
        {"family": family, "scenarios": [base, *drafts.values()]},
        Dumper=Plain,
        sort_keys=False,
        allow_unicode=True,
        width=WIDTH,
        default_flow_style=None,
    ).replace(f"'{CLOCK}'", CLOCK)
    try:
        write_whole(out, "\n".join((*head, text)))
    except OSError as error:
        raise SandboxError(f"{out} cannot be written: {error.strerror or error}") from error
