"""One constraint of a case, guardrails apart, judged for versions of its table.

Policy: every pair of an expected and an actual row is compared once, however many versions the row lives through.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property, reduce
from typing import Any

from sandbox_grader.milestones.assignment import assign
from sandbox_grader.milestones.case import MESSAGES, CaseConstraint, Measured
from sandbox_grader.milestones.cells import TargetRow, filled, shape, similarity, targets, value_sets
from sandbox_grader.milestones.history import History, zero_filled
from sandbox_grader.milestones.row_versions import Bits, members

COMPARING = ("addition", "removal", "update")
"""The kinds that compare two states, for which empty cells count as zero values."""
EAGER = 24
"""A ceiling tries so many references at most."""


class Judge:
    """One constraint: its value for a version of its table and, where it has one, a version at its reference."""

    def __init__(self, constraint: CaseConstraint, history: History) -> None:
        self.table, self.kind, self.reference = constraint.table, constraint.kind, constraint.reference
        self._constraint, self._history = constraint, history
        self._row = history.filled_row if self.kind in COMPARING else history.row
        rows = tuple(zero_filled(row) for row in constraint.rows) if self.kind in COMPARING else constraint.rows
        self._wanted: tuple[TargetRow, ...] = () if self.kind == "trace_dependent" else targets(constraint, rows)
        self._known: dict[tuple[int, int], float] = {}
        self._pairs: dict[int, list[float | None]] = {}
        self._made: dict[int, list[TargetRow]] = {}

    def value(self, state: int, reference: int) -> float:
        """Similarity of a version of the table to the constraint, from 0 to 1, with another one at the reference."""
        value = self._known.get((state, reference))
        if value is None:
            value = self._known[state, reference] = self._judge(state, reference)
        return value

    def values(self, states: Collection[int], reference: int) -> dict[int, float]:
        """Similarity of each of many versions to the constraint, from 0 to 1, with one version at the reference."""
        likely = states if self.kind not in COMPARING else [s for s in states if self._may(s, reference)]
        return dict.fromkeys(states, 0.0) | {state: self.value(state, reference) for state in likely}

    def along(self) -> list[float]:
        """At every index the value, with the first index as the reference."""
        here = self._history.versions[self.table]
        if self.table == MESSAGES and len(self._wanted) == 1:
            target = self._wanted[0]
            return [similarity(target, message) or 0.0 for message in self._history.messages]
        values = {state: self.value(state, here[0]) for state in set(here)}
        return [values[state] for state in here]

    def yields(self, reference: int) -> list[TargetRow]:
        """For ``trace_dependent``: the expected messages that the calls of the message ``reference`` make up."""
        if reference not in self._made:
            rows = [row for values in self._taken(reference) for row in filled(self._constraint, values)]
            self._made[reference] = list(targets(self._constraint, rows))
        return self._made[reference]

    def alike(self) -> Sequence[int | None]:
        """For every message the first one that yields the same, or None if it yields nothing."""
        first: dict[str, int] = {}
        taken = (self._taken(index) for index in range(self._history.length))
        return [first.setdefault(shape(sets, index), index) if sets else None for index, sets in enumerate(taken)]

    def _taken(self, reference: int) -> list[dict[str, Any]]:
        extract = self._constraint.extract or ()
        return [values for call in self._history.calls[reference] for values in value_sets(extract, call)]

    def ceilings(self, values: Sequence[float], among: Sequence[frozenset[int]]) -> list[float]:
        """``values``, one per index, each times a number that the constraint never exceeds there.

        ``among`` has for every index the versions that the reference may have there.
        """
        here = self._history.versions[self.table]
        if self.kind == "trace_dependent":
            target = self._favourable()
            messages = self._history.messages
            return [v and v * (similarity(target, messages[index]) or 0.0) for index, v in enumerate(values)]
        best: dict[tuple[int, int], float] = {}
        found = list[float]()
        for value, state, references in zip(values, here, among, strict=True):
            if value:
                key = (state, id(references))
                if key not in best:
                    best[key] = self._ceiling(state, references)
                value *= best[key]
            found.append(value)
        return found

    def _judge(self, state: int, reference: int) -> float:
        if self.kind == "trace_dependent":
            message = self._history.messages[state]
            return max((similarity(target, message) or 0.0 for target in self.yields(reference)), default=0.0)
        if self.table == MESSAGES:
            wanted = self._wanted
            return (similarity(wanted[0], self._history.messages[state]) or 0.0) if len(wanted) == 1 else 0.0
        if self.kind == "snapshot":
            return self._match(self._history.rows[self.table][state])
        return self._compared(state, reference)

    def _compared(self, state: int, reference: int) -> float:
        if not self._may(state, reference):
            return 0.0
        if self.kind == "removal":
            state, reference = reference, state
        history, table = self._history, self.table
        now, then = history.contents[table][state], history.contents[table][reference]
        if history.unique(table, state):
            fresh = list(members(now & ~then))
        else:
            fresh = [number for number in history.filled(table, state) if not then >> number & 1]
        if len(fresh) != len(self._wanted):
            return 0.0
        size, before = len(history.rows[table][state]), len(history.rows[table][reference])
        if self.kind == "update":
            fits = size == before
        elif history.unique(table, reference):
            fits = size - len(fresh) == before
        else:
            counts = Counter(history.filled(table, reference))
            fits = sum(counts[number] for number in history.filled(table, state)) == before
        return self._match(fresh) if fits else 0.0

    def _may(self, state: int, reference: int) -> bool:
        """True if no more rows than are expected are fresh, and all of these like an expected one."""
        contents = self._history.contents[self.table]
        now, then = contents[state], contents[reference]
        fresh = then & ~now if self.kind == "removal" else now & ~then
        return not fresh & ~self._alike and fresh.bit_count() <= len(self._wanted)

    @cached_property
    def _alike(self) -> Bits:
        """The rows that are a little like an expected one."""
        every = members(reduce(int.__or__, self._history.contents[self.table]))
        return sum(1 << number for number in every if any(self._pair(number)))

    def _match(self, rows: Sequence[int]) -> float:
        """Similarity of rows to the expected rows.

        0 unless there are as many; else the largest geometric mean, over a one-to-one assignment, of the geometric
        means of the columns. A pair of rows in which every column is left out makes the whole 0. No rows at all are 0
        too: the original stops there with an exception, which voids the run.
        """
        if len(rows) != len(self._wanted) or not rows:
            return 0.0
        pairs: list[list[float]] = [[] for _ in self._wanted]
        for row in rows:
            for line, value in zip(pairs, self._pair(row), strict=True):
                if value is None:
                    return 0.0
                line.append(value)
        return assign(pairs)[0]

    def _pair(self, number: int) -> list[float | None]:
        """The similarity of a row to each expected row."""
        values = self._pairs.get(number)
        if values is None:
            row = self._row(number)
            values = self._pairs[number] = [similarity(target, row) for target in self._wanted]
        return values

    def _ceiling(self, state: int, references: frozenset[int]) -> float:
        """The best value of a version: over the references whose size fits, or if these are many by its rows alone."""
        fitting = self._fitting(state, references)
        if len(fitting) <= EAGER:
            return max((self.value(state, then) for then in fitting if self._may(state, then)), default=0.0)
        return 1.0 if self.kind == "removal" else self._best_rows(state)

    def _fitting(self, state: int, references: frozenset[int]) -> Sequence[int]:
        """The references that, by the number of their rows, may be one with which the value is not 0.

        Without repeated rows the larger of two states has exactly the expected rows more than the smaller, which it
        contains; repeated rows count several times there, so that nothing can be said.
        """
        versions, sizes = self._history.rows[self.table], self._history.sizes(self.table)
        more = {"update": 0, "removal": -len(self._wanted)}.get(self.kind, len(self._wanted))
        size, repeating = len(versions[state]) - more, sizes.get(None, ()) if more else ()
        if len(references) > EAGER:
            return [version for version in (*sizes.get(size, ()), *repeating) if version in references]
        return [version for version in references if len(versions[version]) == size or version in repeating]

    def _best_rows(self, state: int) -> float:
        """The geometric mean over the expected rows if each had the best row of a version."""
        pairs = [self._pair(number) for number in members(self._history.contents[self.table][state] & self._alike)]
        product = 1.0
        for number in range(len(self._wanted)):
            product *= max((pair[number] or 0.0 for pair in pairs), default=0.0)
        return product ** (1 / len(self._wanted)) if self._wanted else 0.0

    def _favourable(self) -> TargetRow:
        """For ``trace_dependent``: the expected message if every value from elsewhere were right."""
        constraint = self._constraint
        names = {extraction.to for extraction in constraint.extract or ()}
        row, measures = dict(constraint.rows[0]), dict(constraint.measures or {})
        if constraint.fill == "content":
            measures["content"] = Measured("one")
        else:
            row["tool_calls"] = [
                {"tool": golden["tool"], "arguments": {k: v for k, v in golden["arguments"].items() if k not in names}}
                for golden in row.get("tool_calls") or ()
            ]
        return targets(CaseConstraint(MESSAGES, "snapshot", (row,), None, measures), (row,))[0]
