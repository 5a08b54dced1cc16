"""Options of a run on the command line, made from their description in ``RunOptions``, and ``--help`` in groups.

Policy: an option is described once, in :mod:`sandbox_mcp.app.run.options`; its type here follows from the type of its
field. Keys are named by the variable that holds them, never given.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin

import click

from sandbox_mcp.app.cli.logs import LogPlace
from sandbox_mcp.app.cli.options import FILE, FOLDER_HERE, PLACE, PLACE_HERE, Command, OneValue, RealRange, use_worlds
from sandbox_mcp.app.run.options import DEFAULTS, GROUPS, OPTIONS, OptionGroup, RunOptions, field_named, type_of

_PLACES: Mapping[str, click.ParamType[Any]] = {
    "any": PLACE, "any here": PLACE_HERE, "file": FILE, "folder here": FOLDER_HERE, "logs": LogPlace(written=True),
    "worlds": PLACE,
}  # fmt: skip


WIDE = 28
"""Characters of an option beyond which its help text begins in the next line."""


class _RunOption(click.Option):
    """An option with its place in a help text of groups."""

    def __init__(self, *args: Any, group: OptionGroup = "how", rare: bool = False, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.group: OptionGroup = group
        self.rare = rare

    def get_help_extra(self, ctx: click.Context) -> Any:
        """What click says of an option, without the range of a number: an error says it where it matters."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class _OneRunOption(_RunOption, OneValue):
    """One that people may take for several, so that a second value is refused."""


class _Pairs(click.ParamType[Any]):
    """``NAME=JSON``, as a pair; a value other than JSON is text."""

    name = "pair"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The pair."""
        from sandbox_mcp.engine.trajectory.model_text import strict_json

        if isinstance(value, tuple):
            return cast("tuple[str, Any]", value)
        name, found, text = str(value).partition("=")
        if not name or not found:
            self.fail(f"{value!r} is not of the form NAME=JSON, such as temperature=0", param, ctx)
        try:
            return name, strict_json(text)
        except (ValueError, RecursionError):
            return name, text


def run_options(*names: str, **changes: Any) -> Callable[[Command], Command]:
    """Options of a run by the names of their fields, in this order; ``changes`` are click's, for all of them."""

    def add(command: Command) -> Command:
        for name in reversed(names):
            attributes = {**_attributes(name), **changes}
            if attributes.get("required"):
                del attributes["default"]  # click takes an empty text for a value that was given
            command = click.option(*_declared(name), **attributes)(command)
        return command

    return add


def _declared(name: str) -> list[str]:
    about = OPTIONS[name]
    flag = f"--{(about.flag or name).replace('_', '-')}"
    if type_of(name) is bool and getattr(DEFAULTS, name) is None:
        flag += f"/--no-{flag.removeprefix('--')}"
    return [flag, *([f"-{about.short}"] if about.short else []), name]


def _attributes(name: str) -> dict[str, Any]:
    """Attributes of click's option, from an option's description and the type of its field."""
    about, kind, default = OPTIONS[name], type_of(name), getattr(DEFAULTS, name)
    made: dict[str, Any] = {"help": about.help, "group": about.group, "rare": about.rare, "metavar": about.metavar}
    made["cls"] = _OneRunOption if about.single else _RunOption
    if get_origin(kind) is tuple:
        made["multiple"], kind = True, get_args(kind)[0]
    if get_origin(kind) is Mapping:
        made |= {"multiple": True, "type": _Pairs(), "callback": _as_dict}
        default = ()
    elif about.place:
        made["type"] = _PLACES[about.place]
    elif get_origin(kind) is Literal:
        made["type"] = click.Choice(get_args(kind))
    elif kind is bool and default is not None:
        made["is_flag"] = True
    elif kind is float:
        made["type"] = RealRange(about.above, min_open=True) if about.above is not None else float
    elif kind is int:
        made["type"] = click.IntRange(about.least) if about.least is not None else int
    if about.place == "worlds":
        made |= {"is_eager": True, "callback": use_worlds}
    if kind is int:
        made["metavar"] = made["metavar"] or "N"
    shown = default not in (None, "", ()) and (not about.place) and name != "shard"
    return {**made, "default": default, "show_default": shown}


def _as_dict(_: click.Context, __: click.Parameter, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    return dict(pairs)


def options_from(given: Mapping[str, Any]) -> RunOptions:
    """Options of a run from what click parsed; what belongs to the command alone is left out."""
    return RunOptions(**{name: value for name, value in given.items() if name in OPTIONS})


class GroupedCommand(click.Command):
    """A command whose ``--help`` lists options in groups, and those that few need only under ``--help-all``.

    ``also`` has the group of each option outside :class:`RunOption`, by the name of its parameter, with a ``*`` at
    the end for one that few need.
    """

    def __init__(self, *args: Any, also: Mapping[str, str] | None = None, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.also = also or {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a section for each group."""
        everything = bool(ctx.meta.get(_EVERYTHING))
        hidden = 0
        for group in (*GROUPS, ""):
            records: list[tuple[str, str]] = []
            for param in self.get_params(ctx):
                if isinstance(param, click.Argument):
                    continue
                home, rare = self._home(param)
                record = param.get_help_record(ctx) if home == group else None
                hidden += bool(record and rare and not everything)
                if record and (everything or not rare):
                    records.append(record)
            if records:
                with formatter.section(group.capitalize() or "Help"):
                    formatter.write_dl(records, col_max=WIDE)
        if hidden:
            formatter.write(f"\n{hidden} options that few need are listed by --help-all.\n")

    def _home(self, param: click.Parameter) -> tuple[str, bool]:
        if isinstance(param, _RunOption):
            return param.group, param.rare
        home = self.also.get(param.name or "", "")
        return home.rstrip("*"), home.endswith("*")


_EVERYTHING = f"{__name__}.everything"


def _show_all(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        ctx.meta[_EVERYTHING] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


help_all: Callable[[Command], Command] = click.option(
    "--help-all",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show every option and exit.",
)


def _configured(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Take from a run file, or from the folder of a run, what the command line does not say."""
    if path is None:
        return
    from sandbox_mcp.app.run.run_file import read_run_file

    own = {key_in_file(param): str(param.name) for param in ctx.command.params if param.name not in OPTIONS}
    found: dict[str, Any] = {}
    for key, value in read_run_file(path, own.keys()).items():
        name = own.get(key) or str(field_named(key))
        found[name] = tuple(cast("dict[str, Any]", value).items()) if isinstance(value, dict) else value
    for param in ctx.command.params:  # one text stands for a list of one
        if param.name in found and (param.multiple or param.nargs == -1) and isinstance(found[param.name], str):
            found[param.name] = (found[param.name],)
    ctx.default_map = {**(ctx.default_map or {}), **found}


def key_in_file(param: click.Parameter) -> str:
    """Name of a command's own option in a run file."""
    return max(param.opts, key=len).lstrip("-").replace("-", "_")


config_option: Callable[[Command], Command] = click.option(
    "--config",
    type=PLACE_HERE,
    cls=_RunOption,
    group="how",
    is_eager=True,
    expose_value=False,
    callback=_configured,
    help="Options in a YAML file, or those of a run's folder.",
)
