"""The user that says prepared lines, or those of an earlier session, and then leaves.

Policy: the n-th answer is the n-th line, whatever the agent says, so that two agents can be given the very same words.
The opening is the scenario's own. Where the first user confirmed something, this one confirms whatever it is asked to
at that place, because codes depend on what the agent does.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sandbox_scenarios.model import UserSpec

from sandbox_mcp.engine.tools.gates import CODE, codes_in
from sandbox_mcp.play.users.base import Line, UserTurn
from sandbox_mcp.play.users.typed import CONFIRM, LEAVE


@dataclass(frozen=True, slots=True)
class ReplayUser:
    """Says these lines in order, ``/end`` and ``/confirm`` as a person would type them, then leaves."""

    spec: UserSpec
    lines: tuple[str, ...]
    source: Mapping[str, Any]
    kind: str = "replay"

    def describe(self) -> Mapping[str, Any]:
        """Source of the lines."""
        return self.source

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:
        """The line at this place of the dialogue."""
        place = sum(line.speaker == "agent" for line in dialogue) - 1
        line = self.lines[place] if place < len(self.lines) else LEAVE
        command, _, rest = line.partition(" ")
        if command == LEAVE:
            return UserTurn(None, parting=rest.strip())
        if command == CONFIRM:
            words = CODE.sub("", rest, count=1).strip()
            return UserTurn(words or self.spec.script.confirm, confirms=codes_in(dialogue[-1].text))
        return UserTurn(line.removeprefix("/") if line.startswith("//") else line)


def digest_of(lines: object) -> str:
    """What tells one set of lines from another."""
    return sha256(json.dumps(lines, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")).hexdigest()[:16]
