"""Options of a run, each stated once: its type, its default, its group, and a sentence of help.

Policy: a field of :class:`RunOptions` is an option of ``sandbox-mcp run``, a key of a run file, and a keyword of
``evaluate``. Help texts, checks of what Python and files give, and the option's form on the command line follow from
the field; only the code that heeds an option stands elsewhere. Values are plain, so that they can be kept in
``run.json``, written as YAML and sent to workers. ``run --help`` loads this module, so it imports little.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, TypedDict, Union, cast, get_args, get_origin, get_type_hints

from sandbox_mcp.app.run.errors import RunError

SCORE = "toolsandbox.score"
OptionGroup = Literal["what to play", "the agent", "the user", "how", "limits", "the result"]
GROUPS: tuple[OptionGroup, ...] = get_args(OptionGroup)
"""The groups of options, in the order of ``run --help``."""
RunMode = Literal["on-policy", "prefix"]
"""How an agent is played: on from what it did itself, or every turn from the ground truth."""
AnswerForm = Literal["calls", "text"]
"""How an agent answers a row of MTU-Bench."""
Transport = Literal["memory", "http", "direct"]
"""How an agent reaches its tools."""
UserName = Literal["scripted", "llm", "human", "replay"]
Unsaid = Literal["knows", "does_not_know", "demonstration"]
"""Part of a user's brief that the llm user may have to do without."""
Place = Literal["any", "any here", "file", "folder here", "logs", "worlds"]
"""Kind of path: ``here`` where it has to exist, ``logs`` where the URL of a store may stand as well."""


@dataclass(frozen=True, slots=True)
class About:
    """Description of an option beside its type and its default.

    ``flag`` is its name on the command line, if that is not the field's. ``least`` is the smallest number, or the
    smallest count of values; ``above`` is a bound not allowed itself. ``rare`` options are listed by
    ``--help-all`` alone. A second value on a command line is refused where ``single``; else the last one counts.
    """

    group: OptionGroup
    help: str
    flag: str = ""
    short: str = ""
    metavar: str | None = None
    rare: bool = False
    least: int | None = None
    above: int | None = None
    place: Place | None = None
    single: bool = False


MIXTURE = "suite:default"
"""Selector of what is played where nothing is selected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Everything that decides a run, as its user states it."""

    selectors: Annotated[
        tuple[str, ...], About("what to play", "Scenarios by name, pattern, category, family, world or tier.")
    ] = ()
    scenarios: Annotated[
        tuple[Path, ...], About("what to play", "File or folder of your own; repeatable.", place="any")
    ] = ()
    world: Annotated[
        tuple[Path, ...],
        About("what to play", "Python file or tape with a world; repeatable.", metavar="PATH", place="worlds"),
    ] = ()
    variants: Annotated[
        tuple[str, ...],
        About("what to play", "How tools are presented; repeatable.", flag="variant", metavar="NAME", least=1),
    ] = ("base",)
    faults: Annotated[
        tuple[str, ...],
        About(
            "what to play",
            "Play each session also with calls that go wrong, such as after:0.2; repeatable, see docs/faults.md.",
            metavar="KIND[:RATE]",
            rare=True,
        ),
    ] = ()
    injections: Annotated[
        int | None,
        About(
            "what to play",
            "Play each session also under N prompt injections into results, see docs/injections.md.",
            metavar="N",
            least=1,
            rare=True,
        ),
    ] = None
    persona: Annotated[
        tuple[str, ...],
        About(
            "what to play",
            "Manner of the user, such as vague or pushes; repeatable, see docs/users.md.",
            metavar="NAME",
            rare=True,
        ),
    ] = ()
    trials: Annotated[int, About("what to play", "Sessions per scenario and variant.", least=1)] = 1
    seed: Annotated[int, About("what to play", "Decides the world's ids.", single=True)] = 0
    instances: Annotated[
        int | None,
        About("what to play", "Play N instances of each, with other names and numbers.", metavar="N", least=1),
    ] = None
    instance_seed: Annotated[
        str | None,
        About(
            "what to play",
            "Draw the instances by this secret: nobody can have trained on them.",
            metavar="SECRET",
            rare=True,
        ),
    ] = None
    mode: Annotated[
        RunMode,
        About(
            "what to play",
            "Go on from the agent's own deeds, or ask for each reply on the reference's history.",
            rare=True,
        ),
    ] = "on-policy"
    fill: Annotated[
        str | None,
        About(
            "what to play",
            "Ask this model for what a tape has no answer to; such sessions are kept apart, see docs/worlds.md.",
            metavar="MODEL",
            rare=True,
        ),
    ] = None
    knowledge: Annotated[
        str | None,
        About(
            "what to play",
            "Live sources for search tools: a Knowledge, or what makes one.  [default: offline sources]",
            metavar="MODULE:ATTRIBUTE",
            rare=True,
        ),
    ] = None
    record: Annotated[
        Path | None, About("what to play", "Record what live sources answer.", place="any", rare=True)
    ] = None
    replay: Annotated[
        Path | None, About("what to play", "Look things up in this recording.", place="any", rare=True)
    ] = None
    tooltalk: Annotated[
        Path | None,
        About(
            "what to play",
            "Play the conversations of this checkout of ToolTalk instead of scenarios.",
            place="folder here",
            rare=True,
        ),
    ] = None
    rows: Annotated[
        tuple[Path, ...],
        About(
            "what to play",
            "Play rows of MTU-Bench: one of its *_eval.jsonl files, or a folder of them; repeatable.",
            place="any here",
            rare=True,
        ),
    ] = ()
    row_answers: Annotated[
        AnswerForm,
        About(
            "what to play",
            "With --rows: call tools over MCP, or write calls as text, as the benchmark's authors asked.",
            rare=True,
        ),
    ] = "calls"
    agent: Annotated[str, About("the agent", "See 'sandbox-mcp agents'.", metavar="NAME", single=True)] = ""
    model: Annotated[str, About("the agent", "Model that the agent asks.", metavar="NAME")] = ""
    base_url: Annotated[str | None, About("the agent", "Its endpoint.  [default: provider's]", metavar="URL")] = None
    api_key_env: Annotated[
        str | None, About("the agent", "Variable of the key.  [default: provider's]", metavar="NAME")
    ] = None
    params: Annotated[
        Mapping[str, Any],
        About("the agent", "Sent with every request; repeatable.", flag="param", metavar="NAME=JSON"),
    ] = field(default_factory=dict[str, Any])
    instructions: Annotated[
        str | None, About("the agent", "First words to the agent.  [default: a few words]", metavar="FILE")
    ] = None
    react: Annotated[bool, About("the agent", "Prompt chat agents to reason and act in text (ReAct).", rare=True)] = (
        False
    )
    agent_python: Annotated[
        Path | None,
        About(
            "the agent",
            "Python that has the agent's framework.  [default: that of 'sandbox-mcp agents install', or this one]",
            place="file",
            rare=True,
        ),
    ] = None
    user: Annotated[UserName, About("the user", "Who plays the user.", single=True)] = "scripted"
    user_model: Annotated[
        str | None, About("the user", "Model of the llm user.  [default: --model]", metavar="NAME")
    ] = None
    user_base_url: Annotated[
        str | None,
        About("the user", "Endpoint of the llm user's model.  [default: --base-url]", metavar="URL", rare=True),
    ] = None
    user_api_key_env: Annotated[
        str | None,
        About(
            "the user",
            "Variable that has the key of that endpoint.  [default: --api-key-env]",
            metavar="NAME",
            rare=True,
        ),
    ] = None
    user_params: Annotated[
        Mapping[str, Any],
        About(
            "the user",
            "Sent with every request of the llm user; repeatable.",
            flag="user-param",
            metavar="NAME=JSON",
            rare=True,
        ),
    ] = field(default_factory=dict[str, Any])
    user_without: Annotated[
        tuple[Unsaid, ...],
        About("the user", "Part of the brief that the llm user does without; repeatable.", rare=True),
    ] = ()
    user_tools: Annotated[
        str | None,
        About(
            "the user",
            "Tools of the llm user beside its way to leave: look_up, check_goal, or both with a comma.",
            metavar="NAMES",
            rare=True,
        ),
    ] = None
    user_lines: Annotated[
        Path | None,
        About(
            "the user",
            "Lines of the replay user: text, one utterance a line, or YAML or JSON with a list per scenario.",
            metavar="FILE",
            place="any",
            rare=True,
        ),
    ] = None
    user_log: Annotated[
        Path | None,
        About(
            "the user",
            "Log or run folder; the replay user repeats the user of the same scenario, variant and trial.",
            place="any",
            rare=True,
        ),
    ] = None
    out: Annotated[Path | None, About("how", "Folder for logs, manifest and summary.", short="o", place="logs")] = None
    jobs: Annotated[int | None, About("how", "Sessions at a time.  [default: 4; 1 for a person]", least=1)] = None
    shard: Annotated[str, About("how", "Play only the I-th of N equal parts.", metavar="I/N")] = "1/1"
    transport: Annotated[
        Transport | None,
        About("how", "Way to the tools.  [default: memory, or http where the agent needs a URL]", rare=True),
    ] = None
    executor: Annotated[
        Literal["tasks", "processes", "ray"],
        About(
            "how",
            "Play the jobs as tasks of this process, each in a process, or so many in each actor of a Ray cluster.",
            rare=True,
        ),
    ] = "tasks"
    ray_address: Annotated[
        str | None,
        About("how", "The cluster.  [default: RAY_ADDRESS, or one for this run]", metavar="ADDRESS", rare=True),
    ] = None
    ray_actors: Annotated[
        int | None, About("how", "Actors to play on.  [default: one per core of the cluster]", least=1, rare=True)
    ] = None
    pack: Annotated[
        bool | None, About("how", "Put many logs into one file.  [default: from 2000 sessions on]", rare=True)
    ] = None
    max_turn_seconds: Annotated[float, About("limits", "Time for one answer of the agent.", metavar="S", above=0)] = (
        1800.0
    )
    max_steps: Annotated[int, About("limits", "Answers of the model per user message.", least=1, rare=True)] = 30
    max_retries: Annotated[int, About("limits", "Further tries when an endpoint fails.", least=0, rare=True)] = 5
    timeout: Annotated[float, About("limits", "Seconds to wait for an endpoint.", above=0, rare=True)] = 120.0
    price: Annotated[
        str | None,
        About("limits", "Cost of a million tokens, as 2.5/10; of several models MODEL=2.5/10.", metavar="IN/OUT"),
    ] = None
    user_price: Annotated[
        str | None,
        About(
            "limits",
            "The same of the llm user's model.  [default: --price, same model]",
            metavar="IN/OUT",
            rare=True,
        ),
    ] = None
    budget: Annotated[float | None, About("limits", "Begin no session beyond this cost.", metavar="COST", above=0)] = (
        None
    )
    token_budget: Annotated[
        int | None,
        About("limits", "Begin no session that would take the folder's tokens beyond this.", least=1, rare=True),
    ] = None
    keep_going: Annotated[
        bool,
        About("limits", "Play on where the first three sessions fail for one and the same reason.", rare=True),
    ] = False
    metric: Annotated[str, About("the result", "What counts.", metavar="FAMILY.NAME", single=True)] = SCORE
    keep_spoiled: Annotated[bool, About("the result", "Also score sessions that their user spoiled.", rare=True)] = (
        False
    )

    def but(self, changes: Mapping[str, Any]) -> "RunOptions":
        """Options with some of them changed, by the names of fields or of a run file; each change is checked.

        Raises:
            RunError: a name is unknown, or a value cannot be used.
        """
        return replace(self, **checked_options(changes))

    @property
    def selected(self) -> tuple[str, ...]:
        """The selectors; that of the default mixture where neither they nor what to select from is given."""
        given = self.selectors or self.scenarios or self.rows or self.tooltalk or self.world
        return self.selectors if given else (MIXTURE,)

    def given(self) -> dict[str, Any]:
        """Options that differ from their defaults, by the names of a run file, as JSON has them."""
        pairs = ((about.flag or name, getattr(self, name), getattr(DEFAULTS, name)) for name, about in OPTIONS.items())
        return {key.replace("-", "_"): _plain(value) for key, value, default in pairs if value != default}


def _read(annotation: Any) -> tuple[About, Any, bool]:
    """Description of an option, its type without ``None``, and whether it may be ``None``."""
    kind, about = get_args(annotation)
    if get_origin(kind) not in (Union, UnionType):
        return about, kind, False
    return about, next(one for one in get_args(kind) if one is not NoneType), True


_HINTS = {name: _read(hint) for name, hint in get_type_hints(RunOptions, include_extras=True).items()}
OPTIONS: Mapping[str, About] = MappingProxyType({name: about for name, (about, _, _) in _HINTS.items()})
"""Every option by the name of its field."""
DEFAULTS = RunOptions()
_FIELDS = {
    **{about.flag.replace("-", "_"): name for name, about in OPTIONS.items()},
    **{name: name for name in OPTIONS},
}
"""Fields by all names that a run file may use: the field's own, and that of the command line."""


class RunKeywords(TypedDict, total=False):
    """The options that ``evaluate`` takes by name as they are; a test compares them with :class:`RunOptions`."""

    variants: tuple[str, ...] | list[str] | str
    faults: tuple[str, ...] | list[str] | str
    injections: int | None
    persona: tuple[str, ...] | list[str] | str
    trials: int
    seed: int
    instances: int | None
    instance_seed: str | None
    mode: RunMode
    fill: str | None
    record: Path | str | None
    replay: Path | str | None
    row_answers: AnswerForm
    model: str
    base_url: str | None
    api_key_env: str | None
    params: Mapping[str, Any]
    react: bool
    agent_python: Path | str | None
    user_model: str | None
    user_base_url: str | None
    user_api_key_env: str | None
    user_params: Mapping[str, Any]
    user_without: tuple[Unsaid, ...] | list[Unsaid]
    user_tools: str | None
    user_lines: Path | str | None
    user_log: Path | str | None
    out: Path | str | None
    jobs: int
    transport: Transport | None
    pack: bool | None
    max_turn_seconds: float
    max_steps: int
    max_retries: int
    timeout: float
    price: str | None
    user_price: str | None
    token_budget: int | None
    keep_going: bool
    metric: str
    keep_spoiled: bool


def type_of(name: str) -> Any:
    """Type of an option without ``None``."""
    return _HINTS[name][1]


def checked_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of options by their fields, from those by any name that a run file may use.

    Raises:
        RunError: a name is unknown, or a value cannot be used.
    """
    found: dict[str, Any] = {}
    for key, value in given.items():
        name = field_named(key)
        if name is None:
            near = get_close_matches(key, _FIELDS, n=2, cutoff=0.6)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {', '.join(OPTIONS)}"
            raise RunError(f"unknown option {key!r}; {hint}")
        found[name] = checked_option(name, value)
    return found


def field_named(key: str) -> str | None:
    """Field of the option that a run file calls ``key``; None if there is none."""
    return _FIELDS.get(key.replace("-", "_"))


def checked_option(name: str, value: Any) -> Any:
    """Value of an option as its field has it; texts stand for paths, and one text for a list of one.

    Raises:
        RunError: it is of another type, or out of range.
    """
    about, kind, optional = _HINTS[name]
    if value is None and optional:
        return None
    found = _as_kind(kind, value)
    size: Any = len(found or ()) if get_origin(kind) is tuple else found
    too_small = found is not None and (
        (about.least is not None and size < about.least) or (about.above is not None and not size > about.above)
    )
    if found is None or too_small:
        raise RunError(f"{name}={value!r} cannot be used; expected {_expected(kind, about)}")
    return found


def _as_kind(kind: Any, value: Any) -> Any:
    """A value as a type has it; None if it is of another type."""
    origin: Any = get_origin(kind)
    if origin is tuple:
        items: Any = (value,) if isinstance(value, str | Path) else () if value is None else value
        if not isinstance(items, tuple | list):
            return None
        inner = get_args(kind)[0]
        found: list[Any] = [_as_kind(inner, item) for item in cast("tuple[Any, ...]", items)]
        return None if None in found else (*found,)
    if origin is Literal:
        return value if value in get_args(kind) else None
    if kind is Path:
        return Path(value) if isinstance(value, str | Path) and str(value) else None
    if kind is float:
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if kind is int:
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    of_kind: type = origin or kind
    return value if isinstance(value, of_kind) else None


def _expected(kind: Any, about: About) -> str:
    """Sort of value that an option takes, in words."""
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        return " or ".join(choices) if len(choices) == 2 else ", ".join(choices)
    if get_origin(kind) is tuple:
        return "at least one" if about.least else f"a list of {_expected(get_args(kind)[0], about)}"
    if about.above is not None:
        return f"more than {about.above}"
    if kind is int:
        return "a whole number" if about.least is None else f"a whole number from {about.least}"
    if get_origin(kind) is Mapping:
        return "names with values"
    words = {bool: "true or false", float: "a number", Path: "a path"}
    return words.get(kind, f"a text, {about.metavar}" if about.metavar else "a text")


def _plain(value: Any) -> Any:
    """A value as JSON and YAML have it."""
    if isinstance(value, tuple):
        return list(map(_plain, cast("tuple[Any, ...]", value)))
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    return str(value) if isinstance(value, Path) else value
