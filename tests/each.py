"""Cases that one test goes through: each is tried, and each that fails is reported under its own name.

Policy: ``each`` where a case costs less than the 6 ms that every test costs by itself (it is collected by every process
and reported by one), ``pytest.mark.parametrize`` where the cases are dear and best spread over processes, or where each
needs fixtures built for it. A case gets ``tmp_path``, ``monkeypatch`` and ``capsys`` of its own; the others are shared.
"""

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

import pytest

Test = TypeVar("Test", bound=Callable[..., object])
PARAM = type(pytest.param())


@dataclass(frozen=True, slots=True)
class Case:
    """What a test is called with, and the name under which it is reported."""

    name: str
    arguments: Mapping[str, object]


def each(
    names: str | Sequence[str],
    values: Iterable[Any],
    *,
    ids: Callable[[Any], object] | Iterable[object] | None = None,
) -> Callable[[Test], Test]:
    """Calls a test, or every test of a class, with each of the values; may be stacked as ``parametrize`` may be."""
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    told = ids if callable(ids) or ids is None else list(ids)
    given = [_case(arguments, value, number, told) for number, value in enumerate(values)]

    def decorated(test: Test) -> Test:
        if inspect.isclass(test):
            for name, method in [*vars(test).items()]:
                if name.startswith("test"):
                    setattr(test, name, decorated(method))
            return test
        inner: Callable[..., Any] = getattr(test, "case_test", test)
        before: list[Case] = getattr(test, "cases", [Case("", {})])
        cases = [
            Case("-".join(filter(None, (first.name, case.name))), {**case.arguments, **first.arguments})
            for case in given
            for first in before
        ]
        trial = _in_turn_awaited(inner, cases) if inspect.iscoroutinefunction(inner) else _in_turn(inner, cases)
        wrapped: Any = wraps(test)(trial)
        wrapped.case_test, wrapped.cases = inner, cases
        wrapped.__signature__ = _without(inspect.signature(test), arguments)
        return cast("Test", wrapped)

    return decorated


def _case(arguments: list[str], value: Any, number: int, ids: Callable[[Any], object] | list[object] | None) -> Case:
    name: object = None
    if isinstance(value, PARAM):
        name, values = value.id, list(value.values)
    else:
        values: list[object] = list(value) if len(arguments) > 1 else [value]
    if isinstance(ids, list):
        name = name or ids[number]
    if name is None:
        told = [ids(one) if callable(ids) else None for one in values]
        name = "-".join(_name(*one, number) for one in zip(arguments, values, told, strict=True))
    return Case(str(name), dict(zip(arguments, values, strict=True)))


def _name(argument: str, value: object, told: object, number: int) -> str:
    if told is not None:
        return str(told)
    if value is None or isinstance(value, str | bytes | int | float | complex):
        return str(value)
    return str(getattr(value, "__name__", f"{argument}{number}"))


def _without(signature: inspect.Signature, arguments: list[str]) -> inspect.Signature:
    """What pytest is to give: all but the arguments, and what reports failures."""
    kept = [parameter for name, parameter in signature.parameters.items() if name not in (*arguments, "subtests")]
    missing = [name for name in arguments if name not in signature.parameters]
    if missing:
        raise TypeError(f"the test has no argument {', '.join(missing)}; it has {', '.join(signature.parameters)}")
    return signature.replace(
        parameters=[*kept, inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY, annotation=pytest.Subtests)]
    )


def _in_turn(inner: Callable[..., object], cases: list[Case]) -> Callable[..., None]:
    def every_case(*itself: object, subtests: pytest.Subtests, **fixtures: Any) -> None:
        __tracebackhide__ = True
        skipped: list[BaseException] = []
        for number, case in enumerate(cases):
            with _reported(case, subtests, skipped), _own(fixtures, number) as own:
                inner(*itself, **own, **case.arguments)
        _tried(cases, skipped)

    return every_case


def _in_turn_awaited(inner: Callable[..., Any], cases: list[Case]) -> Callable[..., Any]:
    async def every_case(*itself: object, subtests: pytest.Subtests, **fixtures: Any) -> None:
        __tracebackhide__ = True
        skipped: list[BaseException] = []
        for number, case in enumerate(cases):
            with _reported(case, subtests, skipped), _own(fixtures, number) as own:
                await inner(*itself, **own, **case.arguments)
        _tried(cases, skipped)

    return every_case


@contextmanager
def _reported(case: Case, subtests: pytest.Subtests, skipped: list[BaseException]) -> Generator[None]:
    """A failure is told under the case's name, and the next one is tried; the end of the test's time is the end of it.

    Cases that hold are not reported: that costs as much as a test.
    """
    __tracebackhide__ = True
    try:
        yield
    except pytest.skip.Exception as reason:
        skipped.append(reason)
    except (Exception, pytest.fail.Exception) as error:
        if isinstance(error, pytest.fail.Exception) and str(error).startswith("Timeout"):
            error.add_note(f"in the case {case.name!r}")
            raise
        with subtests.test(case.name):
            raise


@contextmanager
def _own(fixtures: dict[str, Any], number: int) -> Generator[dict[str, Any]]:
    """The fixtures of one case, for which nothing is left behind by the cases before it."""
    own = dict(fixtures)
    with ExitStack() as stack:
        if "tmp_path" in own:
            own["tmp_path"] = own["tmp_path"] / str(number)
            own["tmp_path"].mkdir()
        if "monkeypatch" in own:
            own["monkeypatch"] = stack.enter_context(pytest.MonkeyPatch.context())
        if "capsys" in own:
            own["capsys"].readouterr()
        yield own


def _tried(cases: list[Case], skipped: list[BaseException]) -> None:
    if len(skipped) == len(cases):
        pytest.skip(str(skipped[0]) if skipped else "there are no cases")
