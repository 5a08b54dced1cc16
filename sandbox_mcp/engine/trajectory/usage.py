"""Cost of asking a model, as it is counted while a session is played, and read out of logs and reports again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

BEYOND = 1e15
"""More tokens than anything ever took: what is not below counts nothing."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written, and how many requests it took, failed ones not counted."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.requests + other.requests,
        )

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.prompt_tokens + self.completion_tokens

    def to_json(self) -> dict[str, int]:
        """As logs and reports have it."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Usage":
        """From what :meth:`to_json` gives, or others have written; a missing or invalid count is 0."""
        told = (data.get(name) for name in cls.__slots__)
        return cls(*(int(number) if _is_count(number) else 0 for number in told))


def _is_count(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < BEYOND
