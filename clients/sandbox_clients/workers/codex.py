"""Codex CLI: ``codex exec`` for the first message of the user, ``codex exec resume`` for the others.

Every conversation has a configuration folder and an empty working folder of its own, nothing of the user's is read, and
what Codex offers its model beside the session's tools is switched off as far as it can be. Secrets are in its
environment, not in files. It has no limit of steps, so it gets one from the gate in front of its model.
"""

import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gate import ModelGate, gate_to
from lines import MAX_STEPS, AgentAnswer, Start, main
from programs import HEADER, as_variables, found, own_folders, run

OWN_URL = "https://api.openai.com/v1"
KEY = "SANDBOX_MCP_MODEL_KEY"
OFF = (
    "apps", "browser_use", "code_mode_host", "computer_use", "enable_request_compression", "goals", "hooks",
    "image_generation", "plugins", "shell_snapshot", "shell_tool", "skill_search", "tool_suggest",
    "unbounded_connection_retries", "unified_exec", "view_image",
)  # fmt: skip
"""Features of Codex that offer tools of its own, or go on the network."""


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["CodexChat"]:
    """Write the configuration; Codex itself is started for every message."""
    program = found("codex", "codex")
    upstream = start.base_url or os.environ.get("OPENAI_BASE_URL") or OWN_URL
    with own_folders("codex") as (home, work), gate_to(upstream, start.parameters, start.timeout) as gate:
        (home / "instructions.md").write_text(start.instructions, encoding="utf-8")
        values = _configuration(start, gate.url, home)  # TOML writes texts, numbers and truths as JSON does
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items()]
        (home / "config.toml").write_text("".join(lines), encoding="utf-8")
        yield CodexChat(program, start, gate, home, work)


class CodexChat:
    """One conversation; Codex keeps what was said in its own folder."""

    def __init__(self, program: str, start: Start, gate: ModelGate, home: Path, work: Path) -> None:
        self.program, self.gate, self.home, self.work = program, gate, home, work
        self.max_steps = start.max_steps
        own = {"HOME": str(home), "CODEX_HOME": str(home), KEY: start.key or "none"}
        ours = {name: value for name, value in os.environ.items() if not name.startswith("CODEX_")}
        self.environment = {**ours, **as_variables(start.headers), **own}
        self.thread: str | None = None
        self.counted = (0, 0)

    async def turn(self, text: str) -> AgentAnswer:
        """Start Codex with the message, and read what it says when it has ended."""
        self.gate.open(self.max_steps)
        resume = ["resume", self.thread] if self.thread else []
        command = [self.program, "exec", *resume, "--json", "--skip-git-repo-check", "--strict-config", "-"]
        ended = await run(command, text, self.work, self.environment)
        said, usage, problem = "", None, None
        for event in ended.events():
            match event.get("type"):
                case "thread.started":
                    self.thread = event["thread_id"] or self.thread
                case "item.completed" if event["item"].get("type") == "agent_message":
                    said = event["item"].get("text") or ""
                case "item.completed" if event["item"].get("type") == "mcp_tool_call":
                    said = ""  # the answer is the last message behind all calls
                case "turn.completed":
                    usage = event["usage"]
                case "turn.failed":
                    problem = event["error"]["message"]
                case "error":
                    problem = event["message"]
                case _:
                    pass
        if self.gate.closed:  # a turn that was cut off says no tokens itself, but the file that is kept of it does
            files = (file.read_text("utf-8") for file in (self.home / "sessions").rglob("*.jsonl"))
            kept: list[dict[str, Any]] = [json.loads(line)["payload"] for text in files for line in text.splitlines()]
            infos = [payload["info"] for payload in kept if payload.get("type") == "token_count" and payload["info"]]
            total = infos[-1]["total_token_usage"] if infos else None
            return AgentAnswer("", *self._new_tokens(total), self.gate.answers, MAX_STEPS)
        if usage is None:
            raise RuntimeError(problem or f"Codex ended without an answer, {ended.how()}")
        return AgentAnswer(said, *self._new_tokens(usage), self.gate.answers)

    def _new_tokens(self, usage: Mapping[str, int] | None) -> tuple[int, int]:
        """Tokens read and written since the last turn; Codex counts those of the whole conversation."""
        if usage is None:
            return 0, 0
        before, self.counted = self.counted, (usage["input_tokens"], usage["output_tokens"])
        return self.counted[0] - before[0], self.counted[1] - before[1]


def _configuration(start: Start, model_url: str, home: Path) -> dict[str, Any]:
    provider = {
        "name": "given",
        "base_url": model_url,
        "env_key": KEY,
        "wire_api": "responses",
        "request_max_retries": start.retries,
        "stream_max_retries": start.retries,
        "stream_idle_timeout_ms": int(start.timeout * 1000),
    }
    server = {
        "url": start.url,
        "default_tools_approval_mode": "approve",
        "required": True,
        "startup_timeout_sec": 60,
        "tool_timeout_sec": 60,
        **{f'env_http_headers."{name}"': f"{HEADER}{number}" for number, name in enumerate(start.headers)},
    }
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
        **{f"model_providers.given.{key}": value for key, value in provider.items()},
        **{f"mcp_servers.sandbox.{key}": value for key, value in server.items()},
    }


if __name__ == "__main__":
    main(converse)
