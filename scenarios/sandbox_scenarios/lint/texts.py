"""The texts of a scenario's user, and the ways in which the same thing can be written."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sandbox_scenarios.lint.complaint import Path
from sandbox_scenarios.model import Scenario

_DIGITS = re.compile(r"\D+")
_WORD = re.compile(r"[^\W_]+")
TAIL, LEAST = 7, 3
"""So many digits at the end tell one phone number from another, and so few are enough to correct one."""


@dataclass(frozen=True, slots=True)
class Text:
    """One text: where it stands, and whether the user may say it as it stands."""

    path: Path
    text: str
    spoken: bool = True


def texts(scenario: Scenario) -> Iterator[Text]:
    """Everything that is written about the user, what it says first."""
    user, script = scenario.user, scenario.user.script
    yield Text(("user", "opening"), user.opening)
    for number, answer in enumerate(script.answers):
        yield Text(("user", "script", "answers", number, "say"), answer.say)
    for number, line in enumerate(script.then):
        yield Text(("user", "script", "then", number), line)
    for name in ("confirm", "unknown", "decline"):
        yield Text(("user", "script", name), getattr(script, name))
    yield Text(("user", "goal"), user.goal, spoken=False)
    for number, line in enumerate(user.knows):
        yield Text(("user", "knows", number), line, spoken=False)
    for number, line in enumerate(user.wants_not):
        yield Text(("user", "wants_not", number), line, spoken=False)
    for number, exchange in enumerate(user.demonstration):
        yield Text(("user", "demonstration", number, "user"), exchange.user, spoken=False)
        yield Text(("user", "demonstration", number, "agent"), exchange.agent, spoken=False)


def sentence_lists(scenario: Scenario) -> Iterator[Text]:
    """Every item of the lists that hold sentences about the user or of it."""
    user = scenario.user
    for name in ("knows", "does_not_know", "wants_not"):
        for number, line in enumerate(getattr(user, name)):
            yield Text(("user", name, number), line, spoken=False)
    for number, line in enumerate(user.script.then):
        yield Text(("user", "script", "then", number), line)


def spoken(scenario: Scenario) -> tuple[Text, ...]:
    """What the scripted user may say."""
    return tuple(text for text in texts(scenario) if text.spoken)


def known(scenario: Scenario) -> str:
    """What the user knows, as one text."""
    return "\n".join(scenario.user.knows)


@lru_cache(maxsize=16384)
def plain(text: str) -> str:
    """A text as lower-case words with single spaces, so that it can be looked for."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def contains(text: str, words: str) -> bool:
    """Whether the words occur in the text, whole and in order."""
    wanted = plain(words)
    return bool(wanted.strip()) and wanted in plain(text)


def has_number(text: str, number: str) -> bool:
    """Whether a phone number occurs in a text, however it is written."""
    tail = _DIGITS.sub("", number)[-TAIL:]
    return len(tail) == TAIL and tail in _DIGITS.sub("", text)


def has_ending(text: str, number: str) -> bool:
    """Whether at least the last digits of a phone number stand in a text, by themselves."""
    digits = _DIGITS.sub("", number)
    return any(len(part) >= LEAST and digits.endswith(part) for part in _DIGITS.split(text))


def phone_numbers(scenario: Scenario) -> Mapping[str, str]:
    """The numbers on the phone, each with whose it is."""
    contacts = scenario.world.table("contact").values()
    found = {str(row["phone_number"]): str(row["name"]) for row in contacts}
    for row in scenario.world.table("messaging").values():
        for column in ("sender_phone_number", "recipient_phone_number"):
            found.setdefault(str(row[column]), "a person in the messages")
    return found
