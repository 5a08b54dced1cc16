"""The grader's exceptions. Every one is a fault of what was given to it, said in a line that tells where it is."""

from sandbox_mcp.engine.errors import FileError, SandboxError


class GraderError(SandboxError):
    """Something the grader was given cannot be used; the message says what, where and what was expected."""


class ImportFormatError(GraderError, FileError):
    """A file does not have the form its importer reads."""


class NothingToImportError(ImportFormatError):
    """A file has nothing wrong with its form, and no session in it: it is empty, or its list of sessions is."""
