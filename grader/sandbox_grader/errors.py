"""The grader's exceptions. Every one is a fault of what was given to it, said in a line that tells where it is."""

from sandbox_mcp.errors import SandboxError


class GraderError(SandboxError):
    """Something the grader was given cannot be used; the message says what, where and what was expected."""


class ImportFormatError(GraderError):
    """A file does not have the form its importer reads."""

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        super().__init__(f"{path}{'' if line is None else f':{line}'}: {problem}")


class NothingToImportError(ImportFormatError):
    """A file has nothing wrong with its form, and no session in it: it is empty, or its list of sessions is."""
