"""A host's configuration file on disk: read whole, backed up, replaced in one step.

Policy: whatever goes wrong, the file is either as it was or as it should be, and what it was lies next to it. Backups
are never removed here.
"""

import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import escape
from pathlib import Path

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.whole_files import check_regular

_BACKUP = "sandbox-mcp"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file that need not be there. Every method raises SandboxError where the system refuses."""

    path: Path

    def text(self) -> str | None:
        """Read the text, line ends unchanged; None where there is no such file."""
        with self._doing("read"):
            try:
                return check_regular(self.path).read_bytes().decode("utf-8")
            except FileNotFoundError:
                return None
            except UnicodeDecodeError as error:
                raise SandboxError(f"{self.path}: not UTF-8 text (byte {error.start}); nothing was changed") from error

    def back_up(self) -> Path:
        """Copy the file, with its permissions, to a name beside it that says when (in UTC)."""
        moment = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
        names = (f"{self.path.name}.{_BACKUP}-{moment}-{number}.bak" for number in range(100))
        with self._doing("back up"):
            copy = next(place for place in map(self.path.with_name, names) if not place.exists())
            shutil.copy2(self.path, copy)
        return copy

    def backups(self) -> Iterator[str]:
        """Read the backups, the latest first; those that cannot be read are passed over."""
        found = self.path.parent.glob(f"{escape(self.path.name)}.{_BACKUP}-*.bak")
        for backup in sorted(found, reverse=True):
            with suppress(SandboxError):
                yield ConfigFile(backup).text() or ""

    def replace(self, text: str) -> None:
        """Make the text the file's content in one step; a link stays a link, and permissions stay as they are."""
        with self._doing("write"):
            real = check_regular(self.path.resolve())
            real.parent.mkdir(parents=True, exist_ok=True)
            new = real.with_name(f".{real.name}.{os.getpid()}.tmp")
            try:
                with new.open("xb") as stream:
                    if real.exists():
                        shutil.copymode(real, new)
                    stream.write(text.encode("utf-8"))
                    stream.flush()
                    os.fsync(stream.fileno())
                new.replace(real)
            finally:
                new.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the file."""
        with self._doing("remove"):
            self.path.unlink()

    @contextmanager
    def _doing(self, what: str) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise SandboxError(f"cannot {what} {self.path}: {error.strerror or error}") from error
