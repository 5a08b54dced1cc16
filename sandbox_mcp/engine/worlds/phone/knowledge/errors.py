"""Errors of asking the world's knowledge.

Policy: "nothing is known" is an answer (``None`` or an empty list). Everything here is not an answer: the question
was wrong (also a ``ValueError``), the source could not be reached, or a replay has no such record.
"""

from typing import Literal

from sandbox_mcp.engine.tools.definition import ToolFault

Reason = Literal["timeout", "http", "quota", "denied", "network", "malformed"]
"""Why a live source gave no answer: too slow, an error status, out of quota, key refused, unreachable, unreadable."""


class KnowledgeError(ToolFault):
    """Anything this package raises on purpose."""


class InvalidQuestionError(KnowledgeError, ValueError):
    """An argument is outside what the domain can be asked."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UnknownUnitError(KnowledgeError, ValueError):
    """No unit goes by that name."""

    def __init__(self, unit: str) -> None:
        super().__init__(
            f"unknown unit {unit!r}; expected a unit name or symbol such as 'kilometer', 'km/h', 'celsius' or 'm^2'"
        )
        self.unit = unit


class IncompatibleUnitsError(KnowledgeError, ValueError):
    """The two units measure different things."""

    def __init__(self, from_unit: str, to_unit: str, from_dimension: str, to_dimension: str) -> None:
        super().__init__(
            f"cannot convert {from_unit!r} to {to_unit!r}: the first measures {from_dimension}, "
            f"the second {to_dimension}; expected two units of the same dimension"
        )
        self.from_unit, self.to_unit = from_unit, to_unit
        self.from_dimension, self.to_dimension = from_dimension, to_dimension


class UnknownCurrencyError(KnowledgeError, ValueError):
    """The code is not an ISO 4217 currency code."""

    def __init__(self, code: str) -> None:
        super().__init__(f"unknown currency code {code!r}; expected an ISO 4217 code such as 'USD', 'EUR' or 'JPY'")
        self.code = code


class NoRateError(KnowledgeError):
    """The currency exists, but the table has no rate for it on that date."""

    def __init__(self, code: str, date: str, known: list[str]) -> None:
        super().__init__(f"no exchange rate of {code!r} on {date}; known on that date: {', '.join(known) or 'none'}")
        self.code, self.date, self.known = code, date, known


class KnowledgeUnavailable(KnowledgeError):
    """A live source gave no answer; this never means that there is nothing to find."""

    def __init__(self, source: str, reason: Reason, detail: str) -> None:
        super().__init__(f"{source} is unavailable ({reason}): {detail}")
        self.source, self.reason, self.detail = source, reason, detail


class QuestionTapeError(KnowledgeError):
    """A file of recorded answers cannot be read."""


class ReplayMissError(KnowledgeError):
    """A replay was asked something that was never recorded."""

    def __init__(self, question: str, tape: str, recorded: int) -> None:
        super().__init__(
            f"{tape} has no recorded answer for {question}; expected one of its {recorded} recorded questions. "
            f"Record it against the live source first"
        )
        self.question, self.tape, self.recorded = question, tape, recorded
