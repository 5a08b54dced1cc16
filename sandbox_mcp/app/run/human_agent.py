"""The agent played by a person at the terminal: sees the user's words and the tools, calls them, and answers.

Policy: a person gets what any agent gets, and what they call is recorded like any agent's calls. Giving up is a fault
of the agent, so that no person's patience is scored.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from anyio.lowlevel import checkpoint
from sandbox_clients.base import Agent, AgentError, AgentTurn, Brief, Conversation, ToolInfo, ToolOutput, Tools

from sandbox_mcp.app.run.typed_calls import COMMANDS, HELP, Quit, Say, Show, TypedCall, TypingError, meaning
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.play.users.terminal import Terminal

PROMPT = "you> "
WIDTH = 100
"""Characters of a description in the list of tools."""


@dataclass(frozen=True, slots=True)
class PersonAgent(Agent):
    """A person at the terminal."""

    terminal: Terminal = field(default_factory=Terminal)
    name: str = "human"
    marks_batches: ClassVar[bool] = True

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        """Connect to the tools and tell the person what to do."""
        async with brief.target.connect() as tools:
            offered = {tool.name: tool for tool in await tools.list()}
            have = counted(len(offered), "tool")
            self.terminal.show(f"\n{brief.instructions}\nYou have {have}; /tools lists them, /help tells more.")
            yield _Playing(self.terminal, tools, offered)


@dataclass(frozen=True, slots=True)
class _Playing:
    terminal: Terminal
    tools: Tools
    offered: Mapping[str, ToolInfo]

    async def turn(self, message: str) -> AgentTurn:
        """Let the person act until they say something.

        Raises:
            AgentError: they gave up.
        """
        self.terminal.show(f"\nuser: {message}")
        while True:
            await checkpoint()  # where the session has ended, the turn ends here
            line = await self.terminal.ask(PROMPT, (*self.offered, *COMMANDS))
            if line is not None and not line.strip():
                continue
            try:
                typed = Quit() if line is None else meaning(line, self.offered)
            except TypingError as error:
                self.terminal.show(str(error))
                continue
            match typed:
                case Say(text):
                    return AgentTurn(text)
                case Quit():
                    raise AgentError("the person at the terminal gave up")
                case TypedCall(tool, arguments):
                    self.terminal.show(shown(await self.tools.call(tool, arguments)))
                case Show():
                    self.terminal.show(told(typed, self.offered))


def shown(output: ToolOutput) -> str:
    """Text of a call's result."""
    return f"  {'failed: ' if output.is_error else ''}{output.text}"


def told(asked: Show, tools: Mapping[str, ToolInfo]) -> str:
    """The help, the list of tools, or all about one of them."""
    if asked.what == "/help":
        return HELP
    if asked.what == "/tools":
        listed: list[str] = []
        for tool in tools.values():
            needed = set(tool.input_schema.get("required", ()))
            names = [name if name in needed else f"[{name}]" for name in tool.input_schema.get("properties", {})]
            first = tool.description.partition("\n")[0]
            told = first if len(first) <= WIDTH else first[:WIDTH] + "..."
            listed.append(f"  {' '.join([tool.name, *names])}\n      {told}")
        return "\n".join(listed)
    tool = tools[asked.name]
    needed, lines = set(tool.input_schema.get("required", ())), [tool.name, tool.description]
    for name, part in tool.input_schema.get("properties", {}).items():
        kind = f"{json.dumps(part['type'])} ".replace('"', "") if "type" in part else ""
        lines.append(f"  {name}{'' if name in needed else ' (optional)'}: {kind}{part.get('description', '')}")
    return "\n".join(lines)
