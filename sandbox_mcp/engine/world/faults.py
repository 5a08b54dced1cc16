"""Errors of a world: those that refuse a call, and those that show that the world's own code is wrong.

Policy: a ``ToolFault`` (or ``ValueError``, ``ConnectionError`` and the like) is an answer that the caller can act on. A
``WorldError`` is a mistake of whoever wrote the world: no call is to blame, and no session can go on after it.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from sandbox_mcp.engine.errors import SandboxError

ErrorKind = Literal[
    "unknown_tool", "invalid_format", "unknown_argument", "missing_argument", "wrong_type", "wrong_value", "execution",
    "refused",
]  # fmt: skip
"""Why a call failed: a check before the tool ran, the tool's own error, or the session's refusal to run it."""
CHECKED: tuple[ErrorKind, ...] = get_args(ErrorKind)[:6]
"""What is found before a tool runs."""
Telling = Literal["all", "tool", "kind"]
"""How much of an error the caller is told: all, all that tools say themselves, or of what kind it is and no more."""


@dataclass(frozen=True, slots=True)
class CallError:
    """Reason for a call's failure: the kind, the exception's class name, and a text the caller can act on."""

    kind: ErrorKind
    type: str
    message: str

    @property
    def text(self) -> str:
        """Text for the caller."""
        return f"{self.type}: {self.message}"

    def told(self, told: Telling) -> str:
        """Text for a caller, of a variant's ``told``; a refusal says all."""
        silent = {"all": (), "tool": CHECKED, "kind": (*CHECKED, "execution")}[told]
        return f"{self.type}: the call failed" if self.kind in silent else self.text


class ToolFault(Exception):
    """Base of the faults that only tools know; ``ValueError``, ``ConnectionError`` and the like are raised as such."""


class NoDataError(ToolFault):
    """The object asked for does not exist."""


class DuplicateError(ToolFault):
    """More than one thing fits where only one may."""


class WorldError(SandboxError):
    """A world is declared or written in a way that cannot work; the message says where and what was expected."""


class UndeclaredEffectError(WorldError):
    """A tool wrote something that its declaration does not mention."""


class WorldFailedError(WorldError):
    """A world's own code broke while it was running. ``place`` is where, ``cause`` what it raised."""

    def __init__(self, what: str, place: str, cause: BaseException) -> None:
        self.what = what
        self.place = place
        self.cause = cause
        super().__init__(f"{what} of the world failed at {place}: {type(cause).__name__}: {cause}")


class NoJsonError(TypeError):
    """A tool returned something that JSON cannot hold; ``place`` says where the tool stands, once known."""

    def __init__(self, value: object) -> None:
        self.place = ""
        what = repr(value) if isinstance(value, float) else f"a value of type {type(value).__name__!r}"
        super().__init__(f"it returned {what}, for which JSON has nothing; expected rows, texts, numbers, lists, dicts")
