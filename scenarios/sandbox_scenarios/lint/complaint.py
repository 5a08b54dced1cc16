"""Findings of lint: within one scenario, and the same with the place in the file."""

from dataclasses import dataclass

from sandbox_scenarios.problem import PartPath


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One fault. ``path`` leads from the scenario to the part at fault; ``mend`` says what to do about it."""

    rule: str
    path: PartPath
    problem: str
    mend: str


@dataclass(frozen=True, slots=True)
class Complaint:
    """A finding and where it stands: the scenario, its file and the line there, counted from 1.

    ``mutant`` is what deep lint did to find it out.
    """

    scenario: str
    file: str
    line: int
    rule: str
    problem: str
    mend: str
    mutant: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.scenario}: {self.problem}; {self.mend} [{self.mutant or self.rule}]"

    def to_json(self) -> dict[str, str | int]:
        """The complaint as one JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}
