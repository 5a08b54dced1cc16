"""The offline knowledge behind the search tools: plain functions of their arguments and the virtual time.

Policy: no clock, time zone, network or environment of the host is read, unless a live source is plugged in.
"""

from sandbox_mcp.engine.worlds.phone.knowledge.bundle import DOMAINS, Knowledge
from sandbox_mcp.engine.worlds.phone.knowledge.errors import (
    IncompatibleUnitsError,
    InvalidQuestionError,
    KnowledgeError,
    KnowledgeUnavailable,
    NoRateError,
    QuestionTapeError,
    ReplayMissError,
    UnknownCurrencyError,
    UnknownUnitError,
)

__all__ = [
    "DOMAINS", "IncompatibleUnitsError", "InvalidQuestionError", "Knowledge", "KnowledgeError",
    "KnowledgeUnavailable", "NoRateError", "QuestionTapeError", "ReplayMissError", "UnknownCurrencyError",
    "UnknownUnitError",
]  # fmt: skip
