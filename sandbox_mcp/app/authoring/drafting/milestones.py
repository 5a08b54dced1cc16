"""Milestones from a story: from what its calls changed, from the queries whose results it used, from what it told.

Policy: what stands at the end of the session is asked for as it stands there; what a later turn changed again is
transient. Where the log has no state, every call that acts is asked for, with all of its arguments. A query is asked
for if something uses its result, but conversions and other reckoning are not, unless what they returned is told: people
reckon in their heads. Orders are those in which values flow and states depend.
"""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from sandbox_grader.grading.values import is_array, is_object
from sandbox_scenarios.lint.effects import effects, needs

from sandbox_mcp.app.authoring.drafting.flow import Flow, ToldValue
from sandbox_mcp.app.authoring.drafting.setting import DraftSetting
from sandbox_mcp.app.authoring.drafting.story import DraftStory, StoryStep
from sandbox_mcp.app.authoring.drafting.user import question_in
from sandbox_mcp.app.authoring.drafting.words import NEGATIVE, OFF, ON, graded_words, has, snake, words
from sandbox_mcp.engine.world import Change, Column, Row

LENIENT = 60
"""Seconds that a moment may be off if it was reckoned from the clock."""
MANY_WORDS = 6


@dataclass(slots=True)
class _Drafted:
    """One milestone on the way: the body as a file has it, what it comes after, and the turn it belongs to."""

    id: str
    body: dict[str, Any]
    turn: int
    after: set[str] = field(default_factory=set[str])
    transient: bool = False

    def written(self, reduced: list[str]) -> dict[str, Any]:
        """This milestone as a file has it, after the milestones named in ``reduced``."""
        after = {"after": reduced} if reduced else {}
        return {"id": self.id, **after, **({"transient": True} if self.transient else {}), **self.body}


class Drafter:
    """Makes the milestones of one story."""

    def __init__(self, story: DraftStory, flow: Flow, setting: DraftSetting) -> None:
        self.story, self.flow, self.setting = story, flow, setting
        self.home, self.hints = story.home, story.home.hints
        self.drafted: dict[str, _Drafted] = {}
        self._of_step: dict[int, set[str]] = {}
        self._call: dict[int, str] = {}

    def milestones(self) -> list[dict[str, Any]]:
        """All milestones, as a file has them."""
        for number, turn in enumerate(self.story.turns):
            for change in (change for act in turn.acts for change in act.changes):
                self._done_by_the_user(number, change)
            for step in turn.steps:
                if self._asked_for(step):
                    self._query(step)
            for table in dict.fromkeys(change.table for step in turn.steps for change in step.event.changes):
                self._changes(number, table)
        for number in range(len(self.story.turns)):
            self._told(number)
        # what follows from the other orders is not written: the transitive reduction
        networkx: Any = import_module("networkx")  # ships no types, and takes a while to load
        graph = networkx.DiGraph((before, item.id) for item in self.drafted.values() for before in item.after)
        graph.add_nodes_from(self.drafted)
        reduced, names = networkx.transitive_reduction(graph), list(self.drafted)
        return [
            item.written(sorted(reduced.predecessors(name), key=names.index)) for name, item in self.drafted.items()
        ]

    # Calls

    def _asked_for(self, step: StoryStep) -> bool:
        told = [item for items in self.flow.told for item in items if item.ref.step == step.number]
        if step.tool.action and self.story.stateless:
            return True
        if step.tool.action:  # by what it changes, unless a milestone on what was told takes a value from the call
            return any(not isinstance(item.value, str) for item in told)
        if told:
            return True
        if step.tool.computes or step.tool.name in self.hints.reckons:
            return False
        return step.number in self.flow.used or self._only_looked(step)

    def _only_looked(self, step: StoryStep) -> bool:
        """True if the turn did nothing but look, so that its reply must rest on that."""
        steps = self.story.turns[step.turn].steps
        quiet = not any(item.tool.action or item.number in self.flow.used for item in steps)
        return quiet and question_in(self.story.turns[step.turn].reply, self.story.turns[0].said) is None

    def _query(self, step: StoryStep) -> None:
        """A milestone on a call, mostly a look-up: that its tool was called, and with what.

        Arguments that come from an earlier call are not asked for, nor are any where the world says that what is asked
        can be put in many ways.
        """
        tool, name = step.tool.name, snake(step.tool.name)
        body: dict[str, Any] = {"tool": tool}
        deed = step.tool.action and self.story.stateless
        sources = (
            set[str | int]()
            if deed
            else {*self.flow.arguments[step.number], *(path[0] for path in self.flow.parts[step.number])}
        )
        own = {k: v for k, v in step.event.arguments.items() if k not in sources and v is not None}
        if own and not self.hints.asked_in_many_ways:
            said = self.story.said_until(step.turn)
            body["arguments"] = {
                name: _given(value, said) if deed else _asked(self.setting.argument(step.tool, name, value))
                for name, value in own.items()
            }
            same = [item for item in self.drafted.values() if item.body.get("tool") == tool]
            twin = next((item.id for item in same if item.body == body), None)
            name = twin or (f"{name}_{len(same) + 1}" if same else name)
        if name not in self.drafted:  # a second call of the tool that asks for the same asks for nothing more
            self.drafted[name] = _Drafted(name, body, step.turn, self._before(step))
        self._of_step[step.number] = {name}
        self._call[step.number] = name

    def _before(self, step: StoryStep) -> set[str]:
        """The milestones that a call comes after, because of values or of the state of switches and gates."""
        found: set[str] = set()
        for source in self.flow.sources(step.number):
            found |= self._of_step.get(source) or self._before(self.story.steps[source])
        services = set(needs(self.home, step.tool.name, step.event.arguments))
        if step.tool.name in self.hints.switches and step.event.arguments.get("on") is True:
            services.add(self.hints.off_first)
        for name in services:
            found |= {snake(f"{name}_on"), snake(f"{name}_off")} & self.drafted.keys()
        openers = [gate.opened_by for gate in self.home.gates.values()]
        opened = {snake(f"{column}_on") for effect in effects(self.home, openers) for column in effect.columns}
        return found | (opened & set(self.drafted))

    # Deeds

    def _changes(self, number: int, table: str) -> None:
        """Changes of a turn in a table, compared with the start."""
        turn, start = self.story.turns[number], self.story.start.table(table)
        if self.home.state_tables[table].single:
            # A milestone per setting that was switched, in the order of the calls, also for what was switched back.
            for step in turn.steps:
                for change in step.event.changes:
                    if change.table == table and change.before and change.after:
                        for column in (name for name in change.after if change.after[name] != change.before[name]):
                            self._switch(number, table, column, change.after[column], step)
            return
        touched = {change.key: step for step in turn.steps for change in step.event.changes if change.table == table}
        for key, step in touched.items():
            before, after = start.get(key), turn.state.table(table).get(key)
            if before != after:
                lasting = self._lasts(table, key, after)
                kind = "adds" if before is None else "removes" if after is None else "updates"
                self._grouped(number, table, kind, self._row(table, key, before, after, step), step, lasting=lasting)

    def _done_by_the_user(self, number: int, change: Change) -> None:
        """A milestone on what the user's own act changed for good, because the agent had to make the user do it.

        What is again as it was at the start is no change that lasts, even if the agent had changed it in between.
        """
        table, key, before, after = change.table, change.key, change.before, change.after
        if not self._lasts(table, key, after) or (before is not None and key not in self.setting.labels):
            return
        if before is not None and after is not None:
            before = self.story.start.table(table)[key]
            if before == after:
                return
        kind = "adds" if before is None else "removes" if after is None else "updates"
        name = snake("_".join((table, kind, "by_user", *([str(number + 1)] if number else []))))
        row = self._row(table, key, before, after, None)
        self.drafted.setdefault(name, _Drafted(name, {"table": table, kind: row}, number))

    def _lasts(self, table: str, key: str, after: Row | None) -> bool:
        end = self.story.end.table(table).get(key)
        if after is None or end is None:
            return after is end
        passing = {column.name for column in self.home.state_tables[table].columns if column.passing}
        return all(end[name] == value for name, value in after.items() if name not in passing)

    def _grouped(
        self, number: int, table: str, kind: str, row: dict[str, Any], step: StoryStep, *, lasting: bool
    ) -> None:
        turn = [str(number + 1)] if number else []
        name = snake("_".join((table, kind, *turn, *([] if lasting else ["for_now"]))))
        mine = self.drafted.get(name)
        if mine is None:
            mine = self.drafted[name] = _Drafted(name, {"table": table, kind: row}, number, transient=not lasting)
        elif isinstance(mine.body[kind], list):
            mine.body[kind].append(row)
        else:
            mine.body[kind] = [mine.body[kind], row]
        # what an earlier turn did to the table only for now is what this one goes on from
        same = (item for item in self.drafted.values() if item.body.get("table") == table and item.turn < number)
        mine.after |= self._before(step) | {item.id for item in same if item.transient}
        self._of_step.setdefault(step.number, set()).add(name)

    def _switch(self, number: int, table: str, column: str, value: Any, step: StoryStep) -> None:
        name, other = snake(f"{table}_{column}"), ""
        if isinstance(value, bool):
            name, other = (snake(f"{column}_{'on' if on else 'off'}") for on in (value, not value))
        state = next(iter(self.story.end.table(table).values()))
        after = self._before(step) | ({other} & self.drafted.keys())
        mine = _Drafted(name, {"table": table, "is": {column: value}}, number, after - {name}, state[column] != value)
        self.drafted.setdefault(name, mine)
        self._of_step.setdefault(step.number, set()).add(name)

    def _row(
        self, table: str, key: str, before: Row | None, after: Row | None, step: StoryStep | None
    ) -> dict[str, Any]:
        schema = self.home.state_tables[table]
        columns = {column.name: column for column in schema.columns if column.name != schema.key}
        if after is None:
            return {schema.key: self.setting.value(schema.key, key)}
        if before is None:
            shown = [column for name, column in columns.items() if not column.passing and name not in self.hints.own]
            given: dict[str, Any] = {}
            for column in shown:
                value = after[column.name]
                named = value if is_array(value) else [value]
                if value is not None and all(self._can_be_named(column, item) for item in named):
                    given[column.name] = self._cell(column, value, step)
            return given
        row: dict[str, Any] = {schema.key: self.setting.value(schema.key, key)}
        for name, value in after.items():
            if value != before[name]:
                row[name] = {"any": True} if columns[name].passing else self._cell(columns[name], value, step)
        return row

    def _can_be_named(self, column: Column, value: Any) -> bool:
        """True if a file can have a value: ids of rows that the session made are new each time."""
        role = column.item_role or column.role
        if role is None or role.kind != "id" or value in self.setting.labels:
            return True
        home = self.home.tables.get(role.table)
        return home is not None and home.fixed is not None

    def _cell(self, column: Column, value: Any, step: StoryStep | None) -> Any:
        """Expectation of a new value: texts by the words that come from the user, moments not to the second.

        A moment that the agent gave as the user said it is meant as it is, and so is any other value that no call of
        the agent's wrote.
        """
        if is_array(value):
            return {"set": [self.setting.value(column.name, item) for item in value]}
        name, role = column.name, column.role.kind if column.role else None
        written = self.setting.value(name, value)
        given = step is not None and any(parameter.name == name for parameter in step.tool.parameters)
        if step is None:
            return {"close": written, "within": LENIENT} if role == "moment" and value is not None else written
        if role == "moment" and value is not None and (not given or name in self.flow.arguments[step.number]):
            return {"close": written, "within": LENIENT}
        if role == "text" and isinstance(value, str) and " " in value:
            said = self.story.said_until(step.turn)
            wanted = [word for word in words(value) if has(said, word)] or words(value)[:MANY_WORDS]
            return {"facts": [[word] for word in wanted]} if wanted else value
        return written

    # Replies

    def _told(self, number: int) -> None:
        turn = self.story.turns[number]
        if question_in(turn.reply, self.story.turns[0].said) is not None:
            return
        deeds = [item.id for item in self.drafted.values() if item.turn == number and "table" in item.body]
        if self.story.stateless:
            acts = [step.number for step in turn.steps if step.tool.action]
            deeds = [name for act in acts for name in self._of_step[act]]
        looks = {name for item in self.flow.told[number] for name in self._of_step.get(item.ref.step, ())}
        looks |= {name for step in turn.steps if self._only_looked(step) for name in self._of_step[step.number]}
        facts: list[list[str]] = []
        values: dict[str, Any] = {}
        for item in self.flow.told[number]:
            if isinstance(item.value, str):
                facts += _wordings(item)
            else:
                name = f"value{len(values) + 1}" if values else "value"
                facts.append([f"{{{name}}}"])
                path = {"path": ".".join(map(str, item.ref.path))} if item.ref.path else {}
                decimals = {} if item.decimals is None else {"decimals": [item.decimals]}
                values[name] = {"from": self._call[item.ref.step], **path, "to": "text", **decimals}
        facts = facts or self._reported(number, turn.reply)
        content = {"facts": facts, **({"values": values} if values else {})} if facts else {}
        if (deeds or looks or not self.drafted) and content:
            name = "told" if "told" not in self.drafted else f"told_{number + 1}"
            self.drafted[name] = _Drafted(name, {"message": {"content": content}}, number, {*deeds, *looks})

    def _reported(self, number: int, reply: str) -> list[list[str]]:
        """That a deed was done, or why it was not; otherwise what the reply says that the user had not said."""
        steps = [step for step in self.story.turns[number].steps if step.tool.action]
        if steps:
            usual: list[str] = []  # how people say that a call has done its work
            for step in steps:
                if "on" in step.event.arguments:
                    usual += ON if step.event.arguments["on"] else OFF
                usual += step.tool.said or self.hints.said.get(step.tool.name, ())
            if usual:
                said = any(has(reply, word) for word in usual)
                return [list(dict.fromkeys(usual if said else [*usual, *(words(reply) or reply.split())]))]
        fresh = [word for word in words(reply) if not has(self.story.said_until(number), word)]
        if any(has(reply, word) for word in NEGATIVE):
            topic = [word for word in words(reply) if has(self.story.turns[0].said, word)]
            return [list(NEGATIVE), *([topic] if topic else []), *([fresh] if fresh else [])]
        return [[word] for word in fresh[:2]] or [[word] for word in words(reply)[:1]]


def _wordings(item: ToldValue) -> list[list[str]]:
    """Accepted wordings of a text: a name may be cut short, and a text of more than a few words put in other words."""
    text = item.value
    if item.ref.path[-1:] == ("name",):
        return [list(dict.fromkeys((text, text.split()[0])))]
    return [[text]] if len(text.split()) <= MANY_WORDS else [[word] for word in graded_words(text)[:MANY_WORDS]]


def _asked(value: Any) -> Any:
    """Expectation of a look-up's argument: a list in any order, an object as it is, a text that contains this one."""
    if is_array(value):
        return {"set": list(value)}
    if is_object(value):
        return {"exact": value}
    return {"contains": value.casefold()} if isinstance(value, str) and not value.startswith("@") else value


def _given(value: Any, said: str) -> Any:
    """Expectation of a deed's argument: a text of some words by those that the user said, anything else as it is."""
    if is_array(value) or is_object(value):
        return {"exact": value}
    if not isinstance(value, str) or len(value.split()) < MANY_WORDS:
        return {"exact": value} if isinstance(value, str) else value
    wanted = [word for word in words(value) if has(said, word)][:MANY_WORDS]
    return {"facts": [[word] for word in wanted]} if wanted else {"any": True}
