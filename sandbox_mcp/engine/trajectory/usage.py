"""Cost of asking a model, as it is counted while a session is played, and read out of logs and reports again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

COUNTS = ("prompt_tokens", "completion_tokens", "requests")
BEYOND = 1e15
"""More tokens than anything ever took: what is not below counts nothing."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written, and how many requests it took, failed ones not counted.

    ``cost`` is in US dollars, where a log from elsewhere states it; in a sum with a part of unknown cost it is None.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0
    cost: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        known = [used.cost for used in (self, other) if used.cost is not None or used.tokens]
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.requests + other.requests,
            None if not known or None in known else sum(filter(None, known)),
        )

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.prompt_tokens + self.completion_tokens

    def to_json(self) -> dict[str, Any]:
        """As logs and reports have it; a cost that nobody stated is left out."""
        told = {name: getattr(self, name) for name in COUNTS}
        return told if self.cost is None else {**told, "cost": self.cost}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Usage":
        """From what :meth:`to_json` gives, or others have written; a missing or invalid count is 0."""
        told, cost = (data.get(name) for name in COUNTS), data.get("cost")
        read, written, requests = (int(number) if _is_count(number) else 0 for number in told)
        return cls(read, written, requests, float(cost) if _is_count(cost) and cost >= 0 else None)


def _is_count(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < BEYOND
