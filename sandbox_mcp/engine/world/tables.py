"""Tables as typed classes: what whoever declares a world writes, and the schema that follows from it.

Policy: what a column is for stands in its annotation (``Id[Order]``, ``Text``, ``Moment``, ``Secret``), because the
arguments of tools need the same words. A row is a view of frozen cells: all that can be done with it is to
read its columns.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import get_annotations
from math import isfinite
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    Self,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.world.schema import (
    REQUIRED,
    CellRole,
    Column,
    ColumnType,
    DefaultMeasure,
    RoleKind,
    TableSchema,
)
from sandbox_mcp.engine.world.state import Cell, Row

_T = TypeVar("_T")
CELLS, TOUCHED = "_cells", "_touched"
"""Where a row keeps its cells, and whoever is told which of them are read."""


class Id(str, Generic[_T]):
    """The id of a row of one table, as a column or an argument: ``Id[Customer]``, and ``Id[Self]`` for the key."""

    __slots__ = ()


Text = Annotated[str, CellRole("text")]
"""Words that people would put differently: compared by likeness."""
Moment = Annotated[float, CellRole("moment")]
"""Seconds since 1970 by the virtual clock."""
Secret = Annotated[str, CellRole("secret")]
"""What must not be told: never part of a result."""


class Tolerance:
    """In an annotation: a number that counts as right within a tolerance, ``Annotated[float, Tolerance(0.001)]``."""

    __slots__ = ("within",)

    def __init__(self, within: float) -> None:
        self.within = within


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """Options of :func:`column` and :func:`key`, kept until the table's schema is made."""

    default: Any = REQUIRED
    measure: DefaultMeasure | None = None
    within: float | None = None
    key: bool = False
    hidden: bool = False
    passing: bool = False
    unsaid: bool = False
    person: bool = False
    called: tuple[str, ...] = ()


def key(*, init: Literal[False] = False) -> Any:  # noqa: ARG001 - tells type checkers that rows are made without it
    """The column that holds the row's id, which the world hands out."""
    return ColumnOptions(key=True)


def column(
    *,
    default: Any = REQUIRED,
    measure: DefaultMeasure | None = None,
    within: float | None = None,
    hidden: bool = False,
    passing: bool = False,
    unsaid: bool = False,
    person: bool = False,
    called: Sequence[str] = (),
) -> Any:
    """A column with more to say than its annotation.

    ``default`` is for rows that leave it out. ``measure`` (``exact``, ``close`` with the tolerance ``within``, or
    ``rouge``) is how milestones compare it where they do not say. A ``hidden`` column is in no result. A ``passing``
    one differs from run to run. An ``unsaid`` one is what a look tells and a user does not say by itself, unless its
    brief knows it; a ``person`` one is a person's name, by which users mean somebody. What a switch is ``called``, such
    as ``["heating", "radiators"]``, has replies read for whether it is on or off.
    """
    if isinstance(called, str):
        raise WorldError(f"called is the text {called!r}; expected a list of names, such as [{called!r}]")
    if measure not in (None, *get_args(DefaultMeasure)):
        raise WorldError(f"measure is {measure!r}; expected exact, close or rouge")
    return ColumnOptions(default, measure, within, False, hidden, passing, unsaid, person, tuple(called))


class ColumnHandle:
    """A column of a table, as ``Order.status``; on a row it gives the cell.

    A row that has the cell as an attribute of its own, see :func:`shared_row`, never asks: Python looks there first.
    """

    __slots__ = ("name", "options", "table")

    def __init__(self, table: "type[Table]", name: str, options: ColumnOptions) -> None:
        self.table = table
        self.name = name
        self.options = options

    def __get__(self, row: "Table | None", owner: "type[Table]") -> Any:
        if row is None:
            return self
        slots: Any = row
        touched, cells = slots._touched, slots._cells  # noqa: SLF001 - getattr by name takes half as long again
        if touched is not None:
            touched(self.name)
        value: Cell = cells[self.name]
        return list(value) if isinstance(value, tuple) else value

    def __repr__(self) -> str:
        return f"{self.table.__name__}.{self.name}"


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(key, column))
class Table:
    """Base of every table of a world: subclass it, and annotate the columns.

    Class arguments: ``name`` (else the class's name in small letters), ``single`` (one row, which scenarios write
    without a label), ``label`` (what they call that row where they refer to it, and what its id is made from),
    ``optional`` (a single row that may be missing), ``lasting`` (a row has done its work by being made), ``fixed`` (a
    CSV or JSON Lines file beside the module, whose rows nothing changes and no log repeats), and ``owner`` (the column
    that is true in the row about the user itself, which a user knows).
    """

    if not TYPE_CHECKING:
        __slots__ = (CELLS, TOUCHED, "__dict__")

    def __init_subclass__(
        cls,
        *,
        name: str = "",
        single: bool = False,
        label: str = "only",
        optional: bool = False,
        lasting: bool = False,
        fixed: str | None = None,
        owner: str = "",
    ) -> None:
        super().__init_subclass__()
        cls._name_ = name or _in_small_letters(cls.__name__)
        cls._flags_ = {"single": single, "label": label, "optional": optional, "lasting": lasting}
        cls._fixed_ = fixed
        cls._owner_ = owner
        for named in get_annotations(cls):
            given = cls.__dict__.get(named, REQUIRED)
            options = given if isinstance(given, ColumnOptions) else ColumnOptions(given)
            setattr(cls, named, ColumnHandle(cls, named, options))

    if not TYPE_CHECKING:

        def __init__(self, *_, **__):
            raise TypeError(f"rows of {type(self).__name__} are made with tx.add({type(self).__name__}, ...)")

        def __setattr__(self, name, value):
            if isinstance(getattr(type(self), name, None), ColumnHandle):
                raise AttributeError(f"rows are not written to; use tx.change(row, {name}=...)")
            object.__setattr__(self, name, value)

        def __delattr__(self, name):
            raise AttributeError(f"rows are not written to; {name!r} stays")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and type(self) is type(other) and cells_of(self) == cells_of(other)

    def __hash__(self) -> int:
        return hash((type(self), cells_of(self)[schema_of(type(self)).key]))

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in cells_of(self).items())
        return f"{type(self).__name__}({told})"


def _in_small_letters(name: str) -> str:
    """``OrderLine`` as ``order_line``. A pattern would take longer to be compiled than it saves in any process."""
    pairs = zip(f" {name}", name, strict=False)
    return "".join(f"_{it}" if it in _CAPITALS and before in _SMALL else it for before, it in pairs).lower()


_CAPITALS, _SMALL = frozenset(ascii_uppercase), frozenset(ascii_lowercase + digits)
_R = TypeVar("_R", bound=Table)
_SLOTS = cast("Mapping[str, Any]", vars(Table))
_set_cells, _set_touched = _SLOTS[CELLS].__set__, _SLOTS[TOUCHED].__set__
"""Rows are made by the thousand, and setting an attribute by its name takes twice as long."""


def row_of(table: type[_R], cells: Row, touched: Callable[[str], None] | None = None) -> _R:
    """A view of cells as a row; ``touched`` is told of every column read."""
    row: Any = object.__new__(table)
    _set_cells(row, cells)
    _set_touched(row, touched)
    return cast(_R, row)


def shared_row(table: type[_R], cells: Row) -> _R:
    """A view of cells that never change, for all who look: reading it costs no more than reading an attribute.

    Lists are left out, because everybody who asks gets one of their own.
    """
    row = row_of(table, cells)
    for name, cell in cells.items():
        if not isinstance(cell, tuple):
            object.__setattr__(row, name, cell)
    return row


def cells_of(row: Table) -> Row:
    """The cells of a row, without a trace among the accesses."""
    return getattr(row, CELLS)


def is_table(kind: object) -> bool:
    """True if something is a table's class."""
    return isinstance(kind, type) and issubclass(kind, Table) and kind is not Table


def schema_of(table: type[Table]) -> TableSchema:
    """Schema that a table's class declares.

    Raises:
        WorldError: an annotation means no column, or there is not exactly one key.
    """
    found = table.__dict__.get("_schema_")
    if found is None:
        found = _derived(table)
        cast(Any, table)._schema_ = found
    return found


def _derived(table: type[Table]) -> TableSchema:
    declared = cast(Any, table)
    if "." in declared._name_:
        raise WorldError(f"table {declared._name_!r}: expected a name without a dot; scenarios write '@table.label'")
    try:
        hints = get_type_hints(table, include_extras=True)
    except NameError as error:
        raise WorldError(
            f"table {declared._name_!r}: an annotation names {error.name!r}, which is not known"
        ) from error
    columns = tuple(_column(table, name, hint) for name, hint in hints.items())
    keys = [item.name for item in columns if item.role and item.role.kind == "key"]
    if len(keys) != 1:
        expected = "expected exactly one column such as `id: Id[Self] = key()`"
        raise WorldError(f"table {declared._name_!r} has {len(keys)} keys; {expected}")
    ordered = tuple(sorted(columns, key=lambda item: item.name != keys[0]))
    owner = declared._owner_
    if owner and not any(item.name == owner and item.type == "boolean" for item in columns):
        known = ", ".join(item.name for item in columns if item.type == "boolean") or "none"
        raise WorldError(
            f"table {declared._name_!r}: its owner is {owner!r}; expected a column of booleans, of: {known}"
        )
    fixed = _beside(table, declared._fixed_)
    schema = TableSchema(declared._name_, keys[0], ordered, **declared._flags_, fixed=fixed, owner=owner)
    for item in ordered:
        if item.default is not REQUIRED:
            try:
                checked_cell(schema, item, item.default)
            except TypeError as error:
                raise WorldError(f"the default of {error}") from error
    return schema


def _beside(table: type[Table], fixed: str | None) -> Path | None:
    if fixed is None:
        return None
    module = sys.modules.get(table.__module__)
    origin = getattr(module, "__file__", None)
    path = (Path(origin).parent if origin else Path()) / fixed
    if not path.exists():
        raise WorldError(f"table {cast(Any, table)._name_!r}: its file {str(path)!r} does not exist")
    return path


def _column(table: type[Table], name: str, hint: Any) -> Column:
    options = cast(ColumnHandle, getattr(table, name)).options
    where = f"table {cast(Any, table)._name_!r}: column {name!r}"
    inner, nullable = without_null(hint)
    try:
        inner, role, within = role_in(inner, table)
    except WorldError as error:
        raise WorldError(f"{where}: {error}") from error
    if options.key:
        role = CellRole("key", cast(Any, table)._name_)
    kind, items, choices = _held(inner, role, where)
    if options.called and (kind != "boolean" or not all(any(map(str.isalnum, name)) for name in options.called)):
        expected = "expected names of a switch, which is a column of booleans"
        raise WorldError(f"{where} is called {list(options.called)!r}; {expected}")
    measure, tolerance = _default_measure(role, within)
    if options.measure is not None:
        measure, tolerance = options.measure, options.within
    return Column(
        name=name,
        type=kind,
        nullable=nullable,
        role=role,
        items=items,
        choices=choices,
        default=as_cell(options.default),
        hidden=options.hidden,
        passing=options.passing,
        measure=measure,
        within=tolerance,
        unsaid=options.unsaid,
        person=options.person,
        called=options.called,
        item_role=role_in(get_args(inner)[0], table)[1] if get_origin(inner) is list else None,
    )


def as_cell(value: Any) -> Any:
    """A value as a cell keeps it: lists, which could be changed, as tuples."""
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def _default_measure(role: CellRole | None, within: float | None) -> tuple[DefaultMeasure, float | None]:
    if within is not None:
        return "close", within
    if role is not None and role.kind == "moment":
        return "close", 1.0
    return ("rouge", None) if role is not None and role.kind == "text" else ("exact", None)


def measure_of(hint: Any) -> tuple[DefaultMeasure, float | None]:
    """Measure and tolerance of a value with this annotation where nothing says how to compare it."""
    _, role, within = role_in(without_null(hint)[0], None)
    return _default_measure(role, within)


_SCALARS: Mapping[Any, ColumnType] = {str: "string", float: "number", int: "integer", bool: "boolean"}


def _held(hint: Any, role: CellRole | None, where: str) -> tuple[ColumnType, ColumnType | None, tuple[str | int, ...]]:
    """Types in cells of an annotation, types in a list among them, and the only values there may be."""
    if role is not None and role.kind == "moment":
        return "timestamp", None, ()
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        if not any(all(type(choice) is kind for choice in choices) for kind in (str, int)):
            told = " or ".join(map(repr, choices))
            raise WorldError(f"{where} may be {told}; expected texts only, or whole numbers only")
        return "string" if isinstance(choices[0], str) else "integer", None, choices
    if get_origin(hint) is list:
        inner, _, _ = role_in(get_args(hint)[0], None)
        items, _, choices = _held(inner, None, where)
        if items != "list":
            return "list", items, choices
    if hint not in _SCALARS:
        expected = (
            "str, int, float, bool, Literal[...], list[...], Id[...], Text, Moment or Secret, perhaps with | None"
        )
        raise WorldError(f"{where} is annotated {hint!r}; expected {expected}")
    return _SCALARS[hint], None, ()


def without_null(hint: Any) -> tuple[Any, bool]:
    """An annotation without ``None``, and whether it had it."""
    if get_origin(hint) not in (Union, UnionType):
        return hint, False
    options = get_args(hint)
    rest = tuple(option for option in options if option is not NoneType)
    return (rest[0] if len(rest) == 1 else Union[rest]), len(rest) < len(options)  # noqa: UP007 - built at run time


def role_in(hint: Any, table: type[Table] | None) -> tuple[Any, CellRole | None, float | None]:
    """An annotation without what it says of its role; the role; and the tolerance of a measured quantity."""
    if get_origin(hint) is Annotated:
        inner, *notes = get_args(hint)
        inner, role, within = role_in(inner, table)
        roles = [note for note in notes if isinstance(note, CellRole)]
        tolerances = [note.within for note in notes if isinstance(note, Tolerance)]
        return inner, roles[-1] if roles else role, tolerances[-1] if tolerances else within
    if get_origin(hint) is Id:
        (target,) = get_args(hint)
        home = table if target is Self else target
        if isinstance(home, type) and not is_table(home):
            raise WorldError(f"Id[{home.__name__}] is the id of no table; expected one of a table, such as Id[Order]")
        return str, CellRole(cast(RoleKind, "id"), getattr(home, "_name_", "")), None
    return (str, CellRole("id"), None) if hint is Id else (hint, None, None)


def checked_cell(schema: TableSchema, item: Column, value: Any) -> Cell:
    """A value as a cell of that column.

    Raises:
        TypeError: it is of another kind.
    """
    if value is None and item.nullable:
        return None
    fits = isinstance(value, _HOLDS[item.type]) and (item.type == "boolean" or not isinstance(value, bool))
    if not fits or (isinstance(value, float) and not isfinite(value)):  # which no log could hold
        raise TypeError(f"column {item.name!r} of table {schema.name!r} holds {item.type}, not {value!r}")
    if item.type == "list":
        listed = tuple(cast("list[Any]", value))
        inside = Column(item.name, item.items or "string", choices=item.choices)
        return tuple(cast("str", checked_cell(schema, inside, one)) for one in listed)
    if item.choices and value not in item.choices:
        known = ", ".join(map(repr, item.choices))
        raise TypeError(f"column {item.name!r} of table {schema.name!r} is one of {known}, not {value!r}")
    return float(cast(float, value)) if item.type in ("number", "timestamp") else value


_HOLDS: Mapping[ColumnType, Any] = {
    "string": str, "boolean": bool, "integer": int, "number": (int, float), "timestamp": (int, float),
    "list": (list, tuple),
}  # fmt: skip
