"""Signature of a tool's function: its arguments, its result and its description.

Policy: every argument is given by its name and has an annotation, from which its schema and its role follow. What a
declaration cannot mean is refused with the tool and the argument named, before any scenario is played.
"""

import inspect
import keyword
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast, get_type_hints

from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.tools.definition import UNSET, Parameter, parse_docstring
from sandbox_mcp.engine.tools.value_schemas import misfits, roles_inside, value_schema
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.world.tables import measure_of, role_in, without_null
from sandbox_mcp.engine.world.tx import Tx


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """A function as its callers see it; ``names`` has the function's own names for its arguments."""

    description: str
    parameters: tuple[Parameter, ...]
    result: Mapping[str, Any]
    names: Mapping[str, str]


def check_plain(function: Callable[..., Any]) -> None:
    """Refuse what would still be going on when it has returned: all that a tool does happens at one moment."""
    if not inspect.isroutine(function):
        named = f", and options by name, such as group={function!r}" if isinstance(function, str) else ""
        raise WorldError(f"{function!r} is declared to be a tool; expected a function{named}")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        kind = "async" if inspect.iscoroutinefunction(function) else "a generator"
        raise WorldError(f"{function.__name__}() is {kind}; expected a plain function")


def check_takes(function: Callable[..., Any], count: int, where: str, expected: str) -> None:
    """Refuse a function that cannot be called with so many arguments; ``where`` names it in errors."""
    signature = inspect.signature(function)
    try:
        signature.bind(*range(count))
    except TypeError as error:
        told = f"takes {counted(len(signature.parameters), 'argument')}"
        raise WorldError(f"{where} {told}; expected {expected}") from error


def signature_of(function: Callable[..., Any], where: str) -> ToolSignature:
    """Read the signature of a tool's function; ``where`` names the tool in errors.

    Raises:
        WorldError: an annotation is missing or means nothing, or an argument cannot be given by name.
    """
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise WorldError(f"{where}: an annotation names {error.name!r}, which is not known") from error
    first, *taken = inspect.signature(function).parameters.items() or (("", None),)
    if not first[0] or hints.get(first[0], Tx) is not Tx:
        has = f"the first parameter is {first[0]!r}" if first[0] else "there is no parameter"
        raise WorldError(f"{where}: {has}; expected the transaction, such as 'tx: Tx'")
    for name, item in taken:
        if item.kind in (item.VAR_POSITIONAL, item.VAR_KEYWORD):
            stars = "*" if item.kind == item.VAR_POSITIONAL else "**"
            expected = "expected one parameter for each argument, which may be a list or a dict"
            raise WorldError(f"{where}: '{stars}{name}' takes any number of arguments; {expected}")
        if item.kind == item.POSITIONAL_ONLY:
            raise WorldError(f"{where}: {name!r} has no name to be given by; expected a parameter that no '/' follows")
    missing = [name for name in (*dict(taken), "return") if name not in hints]
    if missing:
        raise WorldError(f"{where}: {missing[0]!r} has no annotation")
    description, texts = parse_docstring(inspect.getdoc(function) or "")
    parameters = tuple(_parameter(where, name, hints[name], texts.get(name, ""), item.default) for name, item in taken)
    with _blaming(where):
        result = value_schema(hints["return"])
    return ToolSignature(description, parameters, result, {_shown(name): name for name, _ in taken})


def _parameter(where: str, name: str, hint: Any, text: str, default: Any) -> Parameter:
    with _blaming(f"{where}: {name!r}"):
        inner, _ = without_null(hint)
        _, role, _ = role_in(inner, None)
        measure, within = measure_of(hint)
        inside = tuple(roles_inside(inner)) if role is None else ()
        schema = value_schema(hint, closed=True)
    required = default is inspect.Parameter.empty
    if not (required or default is None or default is UNSET):
        given = [*cast("tuple[Any, ...]", default)] if isinstance(default, tuple) else default
        misfit = next(iter(misfits(given, schema, f"the default of {name!r}")), None)
        if misfit is not None:
            raise WorldError(f"{where}: {misfit.told()}")
    return Parameter(_shown(name), schema, required, text, role, measure, within, inside)


@contextmanager
def _blaming(where: str) -> Generator[None]:
    """Put the name of the annotation into an error about it, such as that it contains itself without end."""
    try:
        yield
    except WorldError as error:
        raise WorldError(f"{where}: {error}") from error
    except RecursionError as error:
        raise WorldError(f"{where}: the annotation has itself inside; expected 'dict' at some depth") from error


def _shown(name: str) -> str:
    """The name of an argument for callers: ``from_`` is ``from``, which no Python function can have."""
    bare = name[:-1]
    return bare if name.endswith("_") and keyword.iskeyword(bare) else name
