"""Gates between an agent and some tools: the user's confirmation, and conditions of the world.

Policy: gates belong to the session, and no tool knows about them. A call that must be confirmed is refused with a
code; the user approves that code, and then exactly the same call goes through, once. Where a scenario demands a gate of
its world, nothing but the tool that opens it works while it is closed. Confirmations are read back from the log when a
session is taken up again; whether a gate is open follows from the state.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sandbox_mcp.engine.tools.calling import BROKEN, Bound, place_of
from sandbox_mcp.engine.tools.declared import GateRule
from sandbox_mcp.engine.world import Transaction
from sandbox_mcp.engine.world.faults import CallError, WorldFailedError

CODE = re.compile(r"\bOK-[0-9A-F]{6}\b")
"""What an action that waits for the user's confirmation is called."""
_MARKS = re.compile(r"[*_`~\u200b\u00ad]")
_HYPHEN = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
ASK = (
    "the user must confirm this first; tell the user what you are about to do and the code {code}, "
    "and once it is confirmed make the same call again"
)


def codes_in(text: str) -> tuple[str, ...]:
    """The confirmation codes of a text, each once, read through typography: other hyphens, bold, code, wide letters."""
    plain = unicodedata.normalize("NFKC", _HYPHEN.sub("-", _MARKS.sub("", text)))
    return tuple(dict.fromkeys(CODE.findall(plain)))


class Gates:
    """Calls that wait for the user's word, and calls that may pass."""

    __slots__ = ("_approved", "_asked", "_confirm", "_rules", "_seed", "_shown")

    def __init__(self, seed: str, confirm: Collection[str] = (), rules: Sequence[GateRule] = ()) -> None:
        """``confirm`` names tools that need the user's word; ``rules`` are the world's gates; codes follow ``seed``."""
        self._seed = seed
        self._confirm = frozenset(confirm)
        self._rules = tuple(rules)
        self._asked: dict[str, str] = {}
        self._approved: set[str] = set()
        self._shown: Callable[[str], str] = str

    def call_tools(self, shown: Callable[[str], str]) -> None:
        """Name tools as the agent knows them: ``shown`` gives the presented name of a canonical one."""
        self._shown = shown

    def check(self, call: Bound, tx: Transaction) -> tuple[CallError, Mapping[str, Any]] | None:
        """The refusal of a call and what the log should keep of it; None if it may pass. ``tx`` is only looked at."""
        closed = self.refusal(call, tx)
        if closed:
            return closed, {}
        if call.tool.name not in self._confirm:
            return None
        key = _key(call.tool.name, call.arguments)
        if self._asked.get(key) in self._approved:
            self.spend(call.tool.name, call.arguments)
            return None
        if key not in self._asked:
            seed = f"{self._seed}/{key}".encode()
            self._asked[key] = "OK-" + hashlib.sha256(seed).hexdigest()[:6].upper()
        code = self._asked[key]
        return CallError("refused", "ConfirmationRequiredError", ASK.format(code=code)), {"confirmation": code}

    def refusal(self, call: Bound, tx: Transaction) -> CallError | None:
        """Reason for which the state does not let a call pass; None if it does. Asking changes nothing.

        Raises:
            WorldFailedError: the world's own code broke.
        """
        for rule in self._rules:
            if call.tool.name != rule.opened_by and not _is_open(rule, tx):
                message = f"{rule.closed}; call {self._shown(rule.opened_by)} first"
                return CallError("refused", rule.error, message)
        return None

    def approve(self, code: str) -> bool:
        """Let the call with that code pass, once; False where no such code is waiting."""
        if code not in self._asked.values():
            return False
        self._approved.add(code)
        return True

    def approve_all(self) -> None:
        """Let every call that waits pass, once."""
        self._approved.update(self._asked.values())

    def recall(self, tool: str, arguments: Mapping[str, Any], code: str) -> None:
        """Remember a refusal that a log tells of."""
        self._asked[_key(tool, arguments)] = code

    def spend(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Use up the approval of a call, if it has one."""
        self._approved.discard(self._asked.pop(_key(tool, arguments), ""))


def _is_open(rule: GateRule, tx: Transaction) -> bool:
    try:
        return rule.is_open(tx)
    except BROKEN as error:
        raise WorldFailedError(f"gate {rule.name!r}", place_of(error), error) from error


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    return f"{tool} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"
