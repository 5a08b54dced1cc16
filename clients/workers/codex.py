"""Codex CLI: ``codex exec`` for the first message of the user, ``codex exec resume`` for the others.

Every conversation has a configuration folder and an empty working folder of its own, nothing of the user's is read, and
what Codex offers its model beside the session's tools is switched off as far as it can be. Secrets are in its
environment, not in files. It has no limit of steps, so it gets one from the gate in front of its model.
"""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from gate import Gate, gate_to
from lines import MAX_STEPS, Said, Start, main

OWN_URL = "https://api.openai.com/v1"
KEY = "SANDBOX_MCP_MODEL_KEY"
HEADER = "SANDBOX_MCP_HEADER_"
OFF = (
    "apps",
    "browser_use",
    "code_mode_host",
    "computer_use",
    "enable_request_compression",
    "goals",
    "hooks",
    "image_generation",
    "plugins",
    "shell_snapshot",
    "shell_tool",
    "skill_search",
    "tool_suggest",
    "unbounded_connection_retries",
    "unified_exec",
    "view_image",
)
"""Features of Codex that offer tools of its own, or go on the network."""


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["Chat"]:
    """Write the configuration; Codex itself is started for every message."""
    program = shutil.which("codex")
    if program is None:
        raise FileNotFoundError("no program 'codex' was found; 'sandbox-mcp agents install codex' brings it")
    upstream = start.base_url or os.environ.get("OPENAI_BASE_URL") or OWN_URL
    with TemporaryDirectory(prefix="codex-", ignore_cleanup_errors=True) as folder:  # noqa: SIM117 - too long for one
        with gate_to(upstream, start.parameters, start.timeout) as gate:
            yield Chat(program, start, gate, *_prepared(Path(folder), start, gate.url))


def _prepared(folder: Path, start: Start, model_url: str) -> tuple[Path, Path]:
    """A folder with the configuration, and one to work in."""
    home, work = folder / "home", folder / "work"
    home.mkdir()
    work.mkdir()
    (home / "instructions.md").write_text(start.instructions, encoding="utf-8")
    (home / "config.toml").write_text(_toml(_configuration(start, model_url, home)), encoding="utf-8")
    return home, work


class Chat:
    """One conversation; Codex keeps what was said in its own folder."""

    def __init__(self, program: str, start: Start, gate: Gate, home: Path, work: Path) -> None:
        self.program, self.gate, self.work = program, gate, work
        self.max_steps = start.max_steps
        headers = {f"{HEADER}{number}": value for number, value in enumerate(start.headers.values())}
        own = {"HOME": str(home), "CODEX_HOME": str(home), KEY: start.key or "none"}
        self.environment = {**os.environ, **headers, **own}
        self.thread: str | None = None
        self.counted = (0, 0)

    async def turn(self, text: str) -> Said:
        """Start Codex with the message, and read what it says when it has ended."""
        self.gate.open(self.max_steps)
        resume = ["resume", self.thread] if self.thread else []
        out = await self._run(["exec", *resume, "--json", "--skip-git-repo-check", "--strict-config", "-"], text)
        heard = _read(out)
        self.thread = heard.thread or self.thread
        if self.gate.closed:
            return Said("", requests=self.gate.answers, finish=MAX_STEPS)
        if heard.usage is None:
            raise RuntimeError(heard.problem or "codex ended without an answer")
        return Said(heard.text, *self._new_tokens(heard.usage), self.gate.answers)

    def _new_tokens(self, usage: Mapping[str, int]) -> tuple[int, int]:
        """Tokens read and written since the last turn; Codex counts those of the whole conversation."""
        counted = (usage.get("input_tokens", 0), usage.get("output_tokens", 0))
        read, written = (now - before for now, before in zip(counted, self.counted, strict=True))
        self.counted = counted
        return read, written

    async def _run(self, arguments: list[str], text: str) -> str:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            self.program, *arguments, cwd=self.work, env=self.environment, stdin=pipe, stdout=pipe
        )
        try:
            out, _ = await process.communicate(text.encode("utf-8", "replace"))
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return out.decode("utf-8", "replace")


class _Heard:
    """What the events of one turn say."""

    def __init__(self) -> None:
        self.thread: str | None = None
        self.text = ""
        self.usage: Mapping[str, int] | None = None
        self.problem: str | None = None


def _read(out: str) -> _Heard:
    heard = _Heard()
    for event in _events(out):
        kind = event.get("type")
        if kind == "thread.started":
            heard.thread = event["thread_id"]
        elif kind == "item.completed":
            _read_item(heard, event["item"])
        elif kind == "turn.completed":
            heard.usage = event["usage"]
        elif kind == "turn.failed":
            heard.problem = event["error"]["message"]
        elif kind == "error":
            heard.problem = event["message"]
    return heard


def _read_item(heard: _Heard, item: Mapping[str, Any]) -> None:
    """The answer is the last message behind all calls."""
    if item.get("type") == "agent_message":
        heard.text = item.get("text") or ""
    elif item.get("type") == "mcp_tool_call":
        heard.text = ""


def _events(out: str) -> Iterator[dict[str, Any]]:
    for line in out.splitlines():
        try:
            event: Any = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield cast("dict[str, Any]", event)


def _configuration(start: Start, model_url: str, home: Path) -> dict[str, Any]:
    return {
        "model": start.model,
        "model_provider": "given",
        "model_instructions_file": str(home / "instructions.md"),
        "approval_policy": "never",
        "sandbox_mode": "read-only",
        "web_search": "disabled",
        "project_doc_max_bytes": 0,
        "check_for_update_on_startup": False,
        "include_apps_instructions": False,
        "include_environment_context": False,
        "include_permissions_instructions": False,
        "agents.enabled": False,
        "analytics.enabled": False,
        "feedback.enabled": False,
        "history.persistence": "none",
        "otel.exporter": "none",
        "orchestrator.mcp.enabled": False,
        "orchestrator.skills.enabled": False,
        "skills.bundled.enabled": False,
        "skills.include_instructions": False,
        "tools.experimental_request_user_input.enabled": False,
        "tools.update_plan.enabled": False,
        **{f"features.{name}": False for name in OFF},
        **_within("model_providers.given", _provider(start, model_url)),
        **_within("mcp_servers.sandbox", _server(start)),
    }


def _provider(start: Start, model_url: str) -> dict[str, Any]:
    return {
        "name": "given",
        "base_url": model_url,
        "env_key": KEY,
        "wire_api": "responses",
        "request_max_retries": start.retries,
        "stream_max_retries": start.retries,
        "stream_idle_timeout_ms": int(start.timeout * 1000),
    }


def _server(start: Start) -> dict[str, Any]:
    headers = {f'env_http_headers."{name}"': f"{HEADER}{number}" for number, name in enumerate(start.headers)}
    limits = {"required": True, "startup_timeout_sec": 60, "tool_timeout_sec": 60}
    return {"url": start.url, "default_tools_approval_mode": "approve", **limits, **headers}


def _within(table: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{table}.{key}": value for key, value in values.items()}


def _toml(values: Mapping[str, Any]) -> str:
    """TOML with dotted keys; its texts, numbers and truths are written as JSON's are."""
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())


if __name__ == "__main__":
    main(converse)
