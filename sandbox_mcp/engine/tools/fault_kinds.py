"""Kinds of faults that calls may be given on purpose, and the seeded choice of the calls that get them.

Policy: which call gets a fault follows from the seed and the call's number alone, so that a run can be repeated. An
agent is told the same of a call that failed before it acted and of one that failed after: it has to look.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sandbox_mcp.engine.errors import SandboxError


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault: whether the call acts all the same, and what the caller is told; empty where it is answered."""

    name: str
    acts: bool
    error: str = ""


NO_ANSWER = "TimeoutError: the server gave no answer in time"
KINDS: Mapping[str, FaultKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            FaultKind("before", acts=False, error=NO_ANSWER),
            FaultKind("after", acts=True, error=NO_ANSWER),
            FaultKind("stale", acts=True),
            FaultKind("partial", acts=True),
            FaultKind("slow", acts=True),
            FaultKind("rate_limit", acts=False, error="RateLimitError: too many calls; try again in a moment"),
            FaultKind("dropped", acts=False, error="the connection was closed"),
        )
    }
)
"""``stale`` answers as before the last change, ``partial`` with a part of a list, ``slow`` late; ``dropped`` is a fault
of the transport, which no result tells of."""


@dataclass(frozen=True, slots=True)
class FaultRates:
    """How often calls get which kind of fault, and from which seed that follows."""

    rates: Mapping[str, float]
    seed: int | str = 0

    @classmethod
    def reading(cls, listed: Iterable[str], seed: int | str = 0) -> "FaultRates":
        """The rates that texts such as ``rate_limit:0.2`` say; without a number a kind has 0.1.

        Raises:
            SandboxError: there is no such kind, or a rate is not from 0 to 1.
        """
        rates: dict[str, float] = {}
        for said in listed:
            name, colon, written = said.partition(":")
            if name not in KINDS:
                raise SandboxError(f"there is no kind of fault {name!r}; known: {', '.join(KINDS)}")
            try:
                rates[name] = float(written) if colon else 0.1
            except ValueError:
                rates[name] = -1.0
            if not 0 <= rates[name] <= 1:
                raise SandboxError(f"fault {said!r}: expected a rate from 0 to 1, such as {name}:0.2")
        if sum(rates.values()) > 1:
            raise SandboxError(f"the rates of faults add up to {sum(rates.values()):g}; expected at most 1")
        return cls(rates, seed)

    def of(self, number: int) -> FaultKind | None:
        """The fault that the call of this number gets; most get none."""
        if not self.rates:
            return None
        drawn = int.from_bytes(hashlib.sha256(f"{self.seed}/{number}".encode()).digest()[:8]) / 2**64
        for name, rate in self.rates.items():
            if drawn < rate:
                return KINDS[name]
            drawn -= rate
        return None
