"""Our entry in a host's configuration: putting it in and taking it out again.

Policy: an entry of our name that starts something else is somebody's, and only replaced when told so. Taking ours out
brings back what stood there before the first of our changes that still lasts, and leaves what else has changed since.
What that was is read from the backups, so nothing else has to be remembered.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard

from sandbox_mcp.cli.connect.config_file import ConfigFile
from sandbox_mcp.cli.connect.hosts import NAME, Host, is_ours
from sandbox_mcp.cli.connect.jsonc import BYTE_ORDER_MARK, JsonTextError, drop, parse, put, put_text, text_at
from sandbox_mcp.errors import SandboxError

Action = Literal["written", "unchanged", "removed", "restored", "nothing", "foreign"]


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What was done to which file, and where the file as it was lies, None where there is no need of it."""

    action: Action
    file: Path
    backup: Path | None = None


@dataclass(frozen=True, slots=True)
class HostEntry:
    """Our entry in one configuration file of one host."""

    host: Host
    config: ConfigFile

    @property
    def place(self) -> tuple[str, str]:
        """The keys that lead to it."""
        return self.host.key, NAME

    def write(self, wanted: dict[str, Any], *, force: bool = False) -> WriteOutcome:
        """Put the entry in, or bring it up to date; keys that somebody added to ours stay.

        Raises:
            SandboxError: the file is no configuration, or has another server of that name and ``force`` is not given.
        """
        held = self.config.text()
        old = held if held and held.strip(f"{BYTE_ORDER_MARK} \t\r\n") else "{}\n"
        servers = self._servers(old)
        present = servers.get(NAME)
        if NAME in servers and not is_ours(present) and not force:
            raise SandboxError(
                f"{self.config.path}: has a server {NAME!r} that is not this one; rename it, or replace it with --force"
            )
        new = self._updated(old, present, wanted) if is_ours(present) else put(old, self.place, wanted)
        if new == held:
            return WriteOutcome("unchanged", self.config.path)
        backup = None if held is None else self.config.back_up()
        self.config.replace(new)
        return WriteOutcome("written", self.config.path, backup)

    def undo(self) -> WriteOutcome:
        """Take the entry out, or bring back the one that it replaced.

        Raises:
            SandboxError: the file is no configuration.
        """
        now = self.config.text()
        servers = self._servers(now) if now else {}
        if now is None or not is_ours(servers.get(NAME)):
            return WriteOutcome("foreign" if NAME in servers else "nothing", self.config.path)
        before = next(self._earlier(), None)
        then = self._taken_out(now, before)
        exact = then == before or (before is None and now == self._alone(servers[NAME]))
        backup = None if exact else self.config.back_up()
        if before is None and then.strip() == "{}":
            self.config.remove()
        else:
            self.config.replace(then)
        restored = before is not None and NAME in self._servers(before or "{}")
        return WriteOutcome("restored" if restored else "removed", self.config.path, backup)

    def _updated(self, text: str, present: Any, wanted: dict[str, Any]) -> str:
        for key, value in wanted.items():
            if present.get(key) != value:
                text = put(text, (*self.place, key), value)
        return text

    def _taken_out(self, now: str, before: str | None) -> str:
        earlier = self._servers(before) if before else {}
        if before is not None and put(before or "{}\n", self.place, self._servers(now)[NAME]) == now:
            return before
        if before and NAME in earlier:
            return put_text(now, self.place, text_at(before, self.place))
        then = drop(now, self.place)
        had_key = bool(before) and self.host.key in parse(before or "{}", lenient=True).value
        return then if had_key or self._servers(then) else drop(then, (self.host.key,))

    def _earlier(self) -> Iterator[str]:
        """The file as it was at the backups at which the entry was not ours, the latest first."""
        for text in self.config.backups():
            try:
                ours = is_ours(self._servers(text or "{}").get(NAME))
            except SandboxError:
                continue
            if not ours:
                yield text

    def _alone(self, entry: dict[str, Any]) -> str:
        """A new file with this entry."""
        return put("{}\n", self.place, entry)

    def _servers(self, text: str) -> dict[str, Any]:
        """The servers that a configuration has.

        Raises:
            SandboxError: it is no configuration.
        """
        advice = "; nothing was changed, mend it or put in by hand what 'connect' prints"
        try:
            document = parse(text, lenient=self.host.comments).value
        except JsonTextError as error:
            kind = "JSON, with comments or without" if self.host.comments else "plain JSON"
            raise SandboxError(f"{self.config.path}, {error}: not {kind}{advice}") from error
        if not _is_object(document):
            raise SandboxError(f"{self.config.path}: it is no JSON object{advice}")
        servers = document.get(self.host.key, {})
        if not _is_object(servers):
            raise SandboxError(f"{self.config.path}: {self.host.key!r} is no JSON object{advice}")
        return servers


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
