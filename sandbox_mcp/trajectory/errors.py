"""What is wrong with a log."""

from sandbox_mcp.errors import SandboxError


class TrajectoryError(SandboxError):
    """A log that cannot be read. ``path`` and ``line`` (from 1, None for the file as a whole) say where."""

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        super().__init__(f"{path}{'' if line is None else f':{line}'}: {problem}")
