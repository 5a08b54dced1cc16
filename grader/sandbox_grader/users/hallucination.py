"""What a user says without being able to know it: secrets that it gives away, and values that it makes up.

Policy: a value counts the first time it is said, if it is in nothing the user was told or found out by its own acts,
and the agent has not said it before. One that is in the world, was found by a tool or is expected by the scenario is a
leak, since the agent was to find it out; a telephone number, mail address or id that is nowhere is an invention, on
which an agent may act. A date counts only where none was named, and a name only inside a sentence, because people can
work out the one and begin a sentence with anything. All is read in English.

Source: ToolSandbox, section 2.2 and table 2, hallucination; those were counted by hand, and these are the ones that a
program can be sure of.
"""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from sandbox_scenarios.model import Scenario

from sandbox_grader.grading.values import leaves
from sandbox_grader.users.secrets import Secrets, keep_result, secrets_of
from sandbox_grader.users.talk import UserMistake, UserView, known, mentioned
from sandbox_grader.users.values import TAIL, Value, digits, names_a_day, plain, telling
from sandbox_mcp.engine.trajectory import Message, ToolCall

_INSIDE = re.compile(r"(?<=[a-z,;:] )[A-Z][\w'’-]{2,}")
"""A word with a capital that begins no sentence."""
_INVENTED = frozenset({"phone number", "mail address", "id"})
"""The kinds of values that are not guessed right."""
_LONG = 4
"""Letters from which a word says something."""


class _Ground:
    """What a user may say by now; texts are read once something that the user says is looked for in them."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._words: set[str] | None = None
        self._new: list[str] = []
        self._text = ""
        self._digits = ""
        self._days = scenario.user.knows_date  # and so can work out others

    def add(self, text: str) -> None:
        """Let the user know a text."""
        self._new.append(text)

    def knows(self, word: str) -> bool:
        """True if a word was said, or names what the user does not know."""
        return word in self._read()

    def quotes(self, words: str) -> bool:
        """True if words in plain form were said just so."""
        self._read()
        return words in plain(self._text)

    def has(self, value: Value) -> bool:
        """True if the user may say a value."""
        self._read()
        if value.kind == "date":
            return self._days
        if value.kind in ("mail address", "id"):
            return value.form in self._text
        tail = value.form[-TAIL:] if value.kind == "phone number" else digits(value.form)
        return tail in self._digits

    def _read(self) -> AbstractSet[str]:
        """Read the new part, and give all words."""
        if self._words is None:
            self._words = {word for text in mentioned(self._scenario) for word in plain(text).split()}
            self._new = [*known(self._scenario), *self._of_itself(), *self._new]
        for text in self._new:
            self._words.update(plain(text).split())
            self._text = f"{self._text}; {text.lower()}"
            self._digits = f"{self._digits};{digits(text)}"
            self._days = self._days or names_a_day(text)
        self._new = []
        return self._words

    def _of_itself(self) -> Iterator[str]:
        """What the rows about the user itself say that it knows."""
        for table, schema in self._scenario.home.state_tables.items():
            for row in self._scenario.world.table(table).values() if schema.owner else ():
                if row.get(schema.owner):
                    yield " ; ".join(str(row[item.name]) for item in schema.columns if item.person or item.unsaid)


def hallucinations(talk: UserView, scenario: Scenario) -> Iterator[UserMistake]:
    """Every leak and invention, in order."""
    if len(talk.said) < 2:
        return
    ground, secrets = _Ground(scenario), secrets_of(talk.trajectory, scenario)
    lines = {line.seq for line in talk.lines}
    turn = 0
    for event in talk.trajectory.events:
        if isinstance(event, ToolCall):
            if event.caller == "user":
                ground.add(" ; ".join(map(str, leaves(event.error.message if event.error else event.result))))
            elif event.caller == "agent" and event.error is None:
                keep_result(secrets, event)
        elif event.seq in lines:
            if event.sender == "user" and turn:
                yield from _said(event, turn, ground, secrets)
            turn += event.sender == "user"
            ground.add(event.content)


def _said(line: Message, turn: int, ground: _Ground, secrets: Secrets) -> Iterator[UserMistake]:
    for value in telling(line.content):
        if ground.has(value):
            continue
        source = secrets.source(value)
        if source:
            yield _leak(line, turn, value.words, source)
        elif value.kind in _INVENTED:
            why = f"a {value.kind} that occurs nowhere and that the user was not told"
            yield UserMistake("invention", line.seq, turn, value.words, why)
    for found in _INSIDE.finditer(line.content):
        name = plain(found[0]).split()[0]
        if name in secrets.names and not ground.knows(name):
            yield _leak(line, turn, found[0], secrets.names[name])
    for secret, source in secrets.quoted(line.content):
        if any(len(word) >= _LONG and not ground.knows(word) for word in secret.split()):
            yield _leak(line, turn, secret.strip(), source)
    for secret, source in secrets.passwords.items():
        if secret in plain(line.content) and not ground.quotes(secret):
            yield _leak(line, turn, secret.strip(), source)


def _leak(line: Message, turn: int, words: str, source: str) -> UserMistake:
    why = f"from {source}; the user was not told it, and the assistant had not said it"
    return UserMistake("leak", line.seq, turn, words, why)
