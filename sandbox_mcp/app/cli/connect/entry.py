"""Our entry in a host's configuration: putting it in and taking it out again.

Policy: a file that is plain JSON is written anew with its own indentation; one with comments, or anything else that
would be lost, is left as it is. An entry of our name that starts another program is replaced only when told so. Taking
ours out brings back what stood there before the first of our changes that still lasts, and leaves later changes alone.
What that was is read from the backups, so nothing else has to be remembered.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard

from sandbox_mcp.app.cli.connect.config_file import ConfigFile
from sandbox_mcp.app.cli.connect.hosts import NAME, Host, is_ours
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.trajectory.model_text import json_bytes

Action = Literal["written", "unchanged", "removed", "restored", "nothing", "foreign"]
BYTE_ORDER_MARK = "\ufeff"


class UneditableConfigError(SandboxError):
    """A configuration too broken to be written anew, or one that would lose something by it."""


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """Outcome of writing a file; ``backup`` is the file as it was, where one was kept."""

    action: Action
    file: Path
    backup: Path | None = None


@dataclass(frozen=True, slots=True)
class HostEntry:
    """Our entry in one configuration file of one host."""

    host: Host
    config: ConfigFile

    def write(self, wanted: dict[str, Any], *, force: bool = False) -> WriteOutcome:
        """Put the entry in, or bring it up to date; keys that were added to ours stay.

        Raises:
            UneditableConfigError: the file is not plain JSON, or not a configuration.
            SandboxError: it has another server of that name and ``force`` is not given.
        """
        held = self.config.text()
        document = self._document(held)
        servers = self._servers(document)
        present = servers.get(NAME)
        if NAME in servers and not is_ours(present) and not force:
            raise SandboxError(
                f"{self.config.path}: has a server {NAME!r} that is not this one; rename it, or replace it with --force"
            )
        entry = present | wanted if is_ours(present) and _is_object(present) else wanted
        if entry == present:
            return WriteOutcome("unchanged", self.config.path)
        document[self.host.key] = {**servers, NAME: entry}
        backup = None if held is None else self.config.back_up()
        self.config.replace(_written(document, held))
        return WriteOutcome("written", self.config.path, backup)

    def undo(self) -> WriteOutcome:
        """Take the entry out, or bring back the one that it replaced.

        Raises:
            UneditableConfigError: the file is not plain JSON, or not a configuration.
        """
        now = self.config.text()
        document = self._document(now)
        servers = self._servers(document)
        if not is_ours(servers.pop(NAME, None)):
            present = NAME in self._servers(self._document(now))
            return WriteOutcome("foreign" if present else "nothing", self.config.path)
        earlier = next((text for text in self.config.backups() if not self._has_ours(text)), None)
        before = self._document(earlier)
        replaced = self._servers(before).get(NAME)
        if replaced is not None:
            servers[NAME] = replaced
        if not servers and self.host.key not in before:
            del document[self.host.key]
        as_before = document == before
        backup = None if as_before else self.config.back_up()
        if as_before and earlier is None:
            self.config.remove()
        else:
            self.config.replace(earlier if as_before and earlier is not None else _written(document, now))
        return WriteOutcome("removed" if replaced is None else "restored", self.config.path, backup)

    def _has_ours(self, text: str) -> bool:
        """True if a backup has our entry, or cannot be told from one that has."""
        try:
            return is_ours(self._servers(self._document(text)).get(NAME))
        except UneditableConfigError:
            return True

    def _document(self, text: str | None) -> dict[str, Any]:
        """A configuration read from its text; an empty one where the file is missing or empty."""
        if text is None or not text.strip(f"{BYTE_ORDER_MARK} \t\r\n"):
            return {}
        try:
            document = json.loads(text.removeprefix(BYTE_ORDER_MARK), object_pairs_hook=_without_duplicates)
            json_bytes(document)  # or it could not be written again
        except (ValueError, RecursionError) as error:
            raise UneditableConfigError(
                f"{self.config.path}: not plain JSON ({error}), so nothing was changed; edit it by hand"
            ) from error
        if not _is_object(document):
            raise UneditableConfigError(f"{self.config.path}: expected a JSON object; nothing was changed")
        return document

    def _servers(self, document: dict[str, Any]) -> dict[str, Any]:
        servers = document.get(self.host.key, {})
        if not _is_object(servers):
            raise UneditableConfigError(
                f"{self.config.path}: expected a JSON object under {self.host.key!r}; nothing was changed"
            )
        return servers


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return made


def _written(document: dict[str, Any], old: str | None) -> str:
    """The document as text, with the indentation and the line ends of the file as it was."""
    indent = re.search(r'\n([ \t]+)"', old or "")
    text = json.dumps(document, indent=indent[1] if indent else 2, ensure_ascii=False)
    text += "\n" if old is None or old.endswith("\n") else ""
    return text.replace("\n", "\r\n") if "\r\n" in (old or "") else text
