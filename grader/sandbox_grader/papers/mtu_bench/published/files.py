"""Reads MTU-Bench's files and says which answer belongs to which question of which dialogue.

Policy: rows are told apart by what they hold: ``answer`` makes a row of the benchmark, ``response`` a model's, both
together a row that needs no partner. Joins go by id. The k-th use of an id is the k-th dialogue of that name, and of
two answers under one id one may belong to the next row where that has none; anything else is an error, not a guess.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers.base import Loss
from sandbox_grader.importers.reading.json_values import JsonNode, load_lines, loads, read_bytes, shown
from sandbox_grader.papers.mtu_bench.published.api_bank import SETTING, is_conversation, turns_of
from sandbox_grader.papers.mtu_bench.published.prompt import PromptParts, take_apart
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory import ToolCall

_Item = TypeVar("_Item")

OOD: Final = "OOD"
_INDEXED: Final = re.compile(r"(?P<dialogue>.+_[0-9]+)_(?P<turn>[0-9]{1,9})")
_WORD: Final = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """A row of the benchmark: one turn of one dialogue. ``label`` is its id, unique also among twins.

    ``setting`` is named where the row is another benchmark's, and has at most one call.
    """

    id: str
    label: str
    dialogue: str
    turn: int | None
    question: PromptParts
    text: str
    answer: Mapping[str, Mapping[str, Any]]
    path: str
    line: int
    setting: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """A model's answer to a row: a text from which calls are read, or where there are ``calls``, these and a reply.

    ``meta`` is kept with the text.
    """

    id: str
    model: str
    text: str
    path: str
    line: int
    calls: tuple[ToolCall, ...] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class DialogueRows:
    """The rows of one dialogue in order of their turns, each with its response, or all with None where none came.

    ``form`` is one of S-S, S-M, M-S and M-M; ``setting`` is the form, or OOD. ``run`` names the model where several
    answered the same benchmark.
    """

    name: str
    setting: str
    form: str
    rows: tuple[tuple[BenchmarkRow, Response | None], ...]
    run: str = ""
    losses: tuple[Loss, ...] = ()


Join = tuple[Mapping[str, Response], Mapping[str, Loss]]
"""Which response belongs to which row, by the row's label, and what is to be said of how they met."""


def dialogues(paths: Sequence[Path]) -> list[DialogueRows]:
    """All dialogues of the given files, once for every file of responses that answers their benchmark file.

    Raises:
        ImportFormatError: a file is broken, or a response belongs to no row or not clearly to one.
    """
    rows, responses, lost = _read(paths)
    if not rows:
        raise ImportFormatError(str(paths[0]) if paths else "<no file>", None, "no row has an 'answer'")
    joins = [_join(rows, run) for run in _grouped(responses, lambda response: response.path).values()]
    files = _grouped(rows, lambda row: row.path)
    return [dialogue for benchmark in files.values() for dialogue in _of_file(benchmark, joins, lost)]


def _of_file(
    rows: Sequence[BenchmarkRow], joins: Sequence[Join], lost: Mapping[str, Sequence[Loss]]
) -> Iterable[DialogueRows]:
    """The dialogues of one benchmark file, for every run that answers some of it; ``lost`` is by file."""
    runs = [join for join in joins if any(row.label in join[0] for row in rows)]
    settings = _settings(rows)
    for responses, met in runs or [({}, {})]:
        for name, turns in _grouped(rows, lambda row: row.dialogue).items():
            turns.sort(key=lambda row: row.turn or 0)
            answered = [row for row in turns if row.label in responses]
            missing = [row.label for row in turns if row.label not in responses] if answered else []
            read = dict.fromkeys([rows[0].path, *(responses[row.label].path for row in answered)])
            losses = [loss for path in read for loss in lost[path]]
            losses += [met[row.label] for row in answered if row.label in met]
            losses += [Loss(label, "has no response; this turn is left out") for label in missing]
            kept = tuple((row, responses.get(row.label)) for row in answered or turns)
            run = responses[answered[0].label].model if len(runs) > 1 and answered else ""
            yield DialogueRows(name, *settings[name], kept, run, tuple(losses))


# -- settings -----------------------------------------------------------------------------------------------------


def _settings(rows: Sequence[BenchmarkRow]) -> dict[str, tuple[str, str]]:
    """Setting and form of every dialogue of one file: one for all, except that OOD files mix their forms."""
    by_dialogue = _grouped(rows, lambda row: row.dialogue)
    if rows[0].setting:
        return dict.fromkeys(by_dialogue, (rows[0].setting, "M-S"))
    if rows[0].id.partition("_")[0] == OOD:
        return {name: (OOD, _form([turns])) for name, turns in by_dialogue.items()}
    form = _form(list(by_dialogue.values()))
    return dict.fromkeys(by_dialogue, (form, form))


def _form(group: Sequence[Sequence[BenchmarkRow]]) -> str:
    """The form of dialogues: whether any has several turns, and whether turns may take several calls.

    They may if some do, or else by how no call is written, or else by the question.
    """
    rows = [row for turns in group for row in turns]
    many_turns = any(len(turns) > 1 or any(row.turn for row in turns) for turns in group)
    many_tools = any(len(row.answer) > 1 for row in rows)
    if not many_tools and not any("" in row.answer for row in rows):
        many_tools = any(not row.answer or row.question.many for row in rows)
    return f"{'M' if many_turns else 'S'}-{'M' if many_tools else 'S'}"


# -- joins --------------------------------------------------------------------------------------------------------


def _join(rows: Sequence[BenchmarkRow], run: Sequence[Response]) -> Join:
    by_id = _grouped(rows, lambda row: row.id)
    found: dict[str, Response] = {}
    surplus: dict[str, list[Response]] = {}
    for id_, responses in _grouped(run, lambda response: response.id).items():
        twins = by_id.get(id_)
        if twins is None:
            raise _fault(responses[0], f"answers {id_!r}, which no benchmark file given has")
        found.update({row.label: response for row, response in zip(twins, responses, strict=False)})
        if len(responses) > len(twins):
            surplus[id_] = responses
    following = dict(zip([row.label for row in rows], rows[1:], strict=False))
    losses: dict[str, Loss] = {}
    for id_, responses in surplus.items():
        _relabel(by_id[id_], responses, following, found, losses)
    return found, losses


def _relabel(
    rows: Sequence[BenchmarkRow],
    responses: Sequence[Response],
    following: Mapping[str, BenchmarkRow],
    found: dict[str, Response],
    losses: dict[str, Loss],
) -> None:
    """Give one of two responses under one id to the next row, if that has none.

    Which one shows in the words that response and request share, the file's order deciding where they do not tell.
    """
    neighbour = following.get(rows[0].label)
    if (len(rows), len(responses)) != (1, 2) or neighbour is None or neighbour.label in found:
        there_are = f"{counted(len(responses), 'response')} for {counted(len(rows), 'row')} of the benchmark"
        raise _fault(responses[len(rows)], f"answers {rows[0].id!r} once more: {there_are}")
    first, second = responses
    straight = _shared(first, rows[0]) + _shared(second, neighbour)
    crossed = _shared(first, neighbour) + _shared(second, rows[0])
    own, other = (second, first) if crossed > straight else (first, second)
    found |= {rows[0].label: own, neighbour.label: other}
    losses[neighbour.label] = Loss(
        neighbour.label, f"its response is labelled {other.id!r}, which has another; told apart by the words they share"
    )


def _shared(response: Response, row: BenchmarkRow) -> int:
    """Number of words of a request that recur in a response."""
    return len(_words(row.question.user or row.text) & _words(response.text))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _fault(response: Response, problem: str) -> ImportFormatError:
    return ImportFormatError(response.path, response.line, problem)


# -- files --------------------------------------------------------------------------------------------------------


def _read(paths: Sequence[Path]) -> tuple[list[BenchmarkRow], list[Response], dict[str, Sequence[Loss]]]:
    """The rows and the responses of all files, and what each file has that cannot be kept."""
    rows: list[BenchmarkRow] = []
    responses: list[Response] = []
    lost: dict[str, Sequence[Loss]] = {}
    home: dict[str, str] = {}
    for path in paths:
        twins: Counter[str] = Counter()
        loaded = load_lines(read_bytes(path), str(path))
        lines, lost[str(path)] = loaded.nodes, loaded.losses
        if loaded.cut:
            raise ImportFormatError(str(path), lines[-1].line, "the line after this one is cut off")
        if lines and is_conversation(lines[0]):
            rows += _conversation(lines, path, home)
            continue
        for node in lines:
            id_ = node.need("id").string()
            if node.get("answer") is not None:
                if home.setdefault(id_, node.path) != node.path:
                    raise node.fail(f"{id_!r} is also in {home[id_]}; an id must stay within one benchmark file")
                rows.append(_row(node, id_, twins[id_]))
                twins[id_] += 1
            if node.get("response") is not None:
                model = node.string_at("model") or ""
                text = node.need("response").string()
                responses.append(Response(id_, model, text, node.path, node.line or 0))
            elif node.get("answer") is None:
                raise node.fail("has neither 'answer' (a row of the benchmark) nor 'response' (a model's)")
    return rows, responses, lost


def _row(node: JsonNode, id_: str, twin: int) -> BenchmarkRow:
    text = node.need("question").string()
    answer = node.need("answer")
    calls = {name: _arguments(answer.child(name, value)) for name, value in answer.members().items()}
    found = _INDEXED.fullmatch(id_)
    dialogue = (found["dialogue"] if found else id_) + _letters(twin)
    label = f"{dialogue}_{found['turn']}" if found else dialogue
    turn = int(found["turn"]) if found else None
    return BenchmarkRow(id_, label, dialogue, turn, take_apart(text), text, calls, node.path, node.line or 0)


def _conversation(lines: Sequence[JsonNode], path: Path, home: dict[str, str]) -> Iterable[BenchmarkRow]:
    """The rows of a file that holds one conversation of API-Bank."""
    name = path.name.removesuffix(".jsonl")
    if home.setdefault(name, str(path)) != str(path):
        raise lines[0].fail(f"{name!r} is also in {home[name]}; conversations need names of their own")
    for turn, (question, answer, line) in enumerate(turns_of(lines, path)):
        label = f"{name}_{turn}"
        yield BenchmarkRow(
            label, label, name, turn, question, question.user or "", answer, str(path), line.line or 0, SETTING
        )


def _arguments(node: JsonNode) -> Mapping[str, Any]:
    """The arguments of a call of the ground truth, an object or the JSON text of one."""
    if not isinstance(node.value, str):
        return node.members()
    try:
        value, _ = loads(node.value)
    except ValueError as error:
        raise node.fail(f"expected an object or the JSON text of one, found {shown(node.value)}") from error
    return JsonNode(value, node.path, node.line, node.where).members()


def _letters(twin: int) -> str:
    """Suffix of the k-th dialogue of one name: nothing, b, c, ..., z, ba, ..."""
    text = ""
    while twin:
        twin, rest = divmod(twin, 26)
        text = chr(ord("a") + rest) + text
    return text


def _grouped(items: Iterable[_Item], key: Callable[[_Item], str]) -> dict[str, list[_Item]]:
    """The items under their keys, both in order of appearance."""
    groups: defaultdict[str, list[_Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return dict(groups)
