"""Faults of a world, and how each is mended."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

RULES: Mapping[str, str] = MappingProxyType(
    {
        "host_clock": "ask the transaction: tx.now, tx.local(moment)",
        "chance": "let nothing depend on chance; ids come from tx.add",
        "outside_io": "put data into a fixed table, and leave files, network and output alone",
        "module_state": "keep what changes in a table; whatever lies in a module is shared by all sessions",
        "past_the_transaction": "write with tx.add, tx.change and tx.remove only",
        "undeclared_table": "list the table in World(tables=[...])",
        "undeclared_effect": "name it in adds=, updates= or removes=, or do not write it",
        "secret": "leave it out of results and messages; only what the user does may tell it",
        "result": "return what the annotation says, or annotate what is returned",
        "not_repeatable": "let the result follow from state and arguments alone; sort what comes out of a set",
        "broken": "mend it, or raise ValueError, NoDataError or a ToolFault of your own with a message",
        "docstring": "say in a docstring what the tool does, or why the gate is closed; an agent reads nothing else",
        "dangling": "mend the file, so that every id in it is that of a row",
        "declaration": "mend the declaration",
    }
)
"""Every rule, and how to mend what breaks it."""


@dataclass(frozen=True, slots=True)
class WorldFinding:
    """One thing to mend in a world: where, which rule, and what."""

    world: str
    place: str
    rule: str
    problem: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}; {RULES[self.rule]} [{self.rule}]"

    def to_json(self) -> dict[str, str]:
        """The finding as a JSON object."""
        told = {"world": self.world, "place": self.place, "rule": self.rule, "problem": self.problem}
        return {**told, "mend": RULES[self.rule]}
