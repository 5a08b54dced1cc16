"""Whether a predicted call is the wanted one: as the authors' code says it, and as the paper does.

Policy: a comparison answers with the first difference in words, or None where nothing differs, so that every verdict
can be explained. Which calls may be compared at all (equal tools) is decided here as well.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from sandbox_grader.grading.similarity import Similarity
from sandbox_grader.grading.values import is_array, same_set, same_value, says_nothing
from sandbox_grader.papers.tooltalk.tools import COMPAT, Rule
from sandbox_mcp.engine.trajectory import ReferenceCall, ToolCall

FirstDifference = Callable[[ToolCall, ReferenceCall], str | None]
"""From a predicted and a reference call to the first difference, None where they match."""


class OriginalFails(Exception):
    """The authors' evaluator raises an exception here, so it has no verdict on the session."""

    def __init__(self, tool: str, error: Exception) -> None:
        self.tool = tool
        super().__init__(f"the original evaluator fails on a call of {tool}: {type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class AsCoded:
    """Compares ToolTalk's calls as the authors' evaluator does, its blind spots included.

    Equal tools, equal exception texts, then the tool's rule of ``COMPAT``. Values are compared by Python's ``==``.
    """

    similarity: Similarity

    def __call__(self, call: ToolCall, wanted: ReferenceCall) -> str | None:
        """The first difference, or None.

        Raises:
            OriginalFails: where the original raises, such as for a reminder whose due date is null.
        """
        if call.called != wanted.tool:
            return f"calls {call.called}"
        error = call.error.message if call.error else None
        if error != wanted.error:
            return f"ended with {_outcome(error)} where the reference ended with {_outcome(wanted.error)}"
        rule = COMPAT.get(wanted.tool, Rule())
        try:
            return self._arguments(rule, call.arguments, wanted.arguments) or _result(rule, call.result, wanted.result)
        except (TypeError, KeyError, ValueError) as failure:
            raise OriginalFails(wanted.tool, failure) from failure

    def _arguments(self, rule: Rule, given: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
        if rule.whole:
            return None if dict(given) == dict(wanted) else "the arguments as a whole differ from the reference's"
        for name, value in wanted.items():
            looked_at = name not in rule.ignored and (rule.only is None or name in rule.only)
            if looked_at and not (name in given and self._equal(rule, name, given[name], value)):
                return _differs(name, given, value)
        return None

    def _equal(self, rule: Rule, name: str, given: Any, wanted: Any) -> bool:
        if name in rule.text:
            return _alike(self.similarity, wanted, given, rule.text[name])
        if name in rule.sets:
            return set(given) == set(wanted)
        if name in rule.dates:
            return _day(given) == _day(wanted)
        return given == wanted and (rule.nulls or given is not None)


@dataclass(frozen=True, slots=True)
class AsWritten:
    """Compares calls as the paper describes it, for ToolTalk's tools and any others.

    Both calls succeeded, or both failed. Of an action, every argument that the reference gives a value must be given:
    free text by likeness, lists of people without order, everything else equal; what the reference leaves open may be
    anything. Of a query the results must be identical and the arguments do not matter; where the reference recorded
    no result its arguments decide.

    ``strict`` closes two holes in the rule for queries. Identical results that say nothing prove nothing: two searches
    that both found nothing must have asked the same. And a query that asked the same is the same, though time, new ids
    or an earlier change make its result another one.

    Source: ToolTalk, section 3.1.
    """

    similarity: Similarity
    threshold: float
    actions: Mapping[str, bool]
    free_text: Callable[[str], frozenset[str]]
    people: frozenset[str]
    strict: bool

    def __call__(self, call: ToolCall, wanted: ReferenceCall) -> str | None:
        """The first difference, or None."""
        if call.called != wanted.tool:
            return f"calls {call.called}"
        if (call.error is None) != (wanted.error is None):
            error = call.error and call.error.message
            return f"ended with {_outcome(error)} where the reference ended with {_outcome(wanted.error)}"
        action = self.actions.get(wanted.tool, bool(wanted.action))
        if action or wanted.result is None or wanted.error is not None:
            return self._arguments(call.arguments, wanted)
        identical = same_value(call.result, wanted.result)
        if self.strict and not (identical and not says_nothing(wanted.result)):
            return self._arguments(call.arguments, wanted)
        return None if identical else "the result differs from the reference's"

    def _arguments(self, given: Mapping[str, Any], wanted: ReferenceCall) -> str | None:
        text = self.free_text(wanted.tool)
        for name, value in wanted.arguments.items():
            if value is not None and not self._equal(name, name in text, given.get(name), value):
                return _differs(name, given, value)
        return None

    def _equal(self, name: str, text: bool, given: Any, wanted: Any) -> bool:
        if text:
            return _alike(self.similarity, wanted, given, self.threshold)
        return (same_set if name in self.people else same_value)(wanted, given)


def _alike(similarity: Similarity, wanted: Any, given: Any, threshold: float) -> bool:
    if isinstance(wanted, str) and isinstance(given, str):
        return wanted == given or similarity(wanted, given) >= threshold
    return given is not None and same_value(wanted, given)


def _result(rule: Rule, given: Any, wanted: Any) -> str | None:
    if rule.result == "ids":
        entries, identifier = rule.ids
        found = {entry[identifier] for entry in given[entries]}
        missing = [entry[identifier] for entry in wanted[entries] if entry[identifier] not in found]
        return f"the result lacks {missing[0]!r}" if missing else None
    if rule.result == "equal" and given != wanted:
        return "the result differs from the reference's"
    return None


def _day(text: Any) -> date:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).date()


def _differs(name: str, given: Mapping[str, Any], wanted: Any) -> str:
    found = _short(given[name]) if name in given else "absent"
    return f"argument {name!r} is {found} where the reference has {_short(wanted)}"


def _short(value: Any) -> str:
    shown = repr(list(value)) if is_array(value) else repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _outcome(error: str | None) -> str:
    return "no error" if error is None else f"the error {_short(error)}"
