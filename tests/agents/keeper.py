"""Runs a worker of a framework and keeps the transcript of each conversation as the framework itself has it.

``python keeper.py WORKER FOLDER``, in the framework's environment, with the workers on its path. What is kept of a
conversation has the digest of the user's first words in its name.
"""
# pyright: basic, reportMissingImports=false

import json
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from lines import AgentAnswer, Start, main


class Kept:
    """One conversation, and the first words of its user."""

    def __init__(self, chat: Any) -> None:
        self.chat = chat
        self.first = ""

    async def turn(self, text: str) -> AgentAnswer:
        """Pass the user's words on."""
        self.first = self.first or text
        return await self.chat.turn(text)


def named(first: str) -> str:
    """The name under which a conversation is kept that begins with these words."""
    return sha256(first.encode()).hexdigest()[:16]


async def openai_agents(chat: Any) -> dict[str, str]:
    """The SDK's input list."""
    return {"openai-responses.json": json.dumps(chat.said)}


async def langgraph_agent(chat: Any) -> dict[str, str]:
    """The messages of the last checkpoint in the three forms that LangChain writes."""
    from langchain_core.load import dumps
    from langchain_core.messages import messages_to_dict

    messages = await chat._messages()
    return {
        "langchain.json": json.dumps({"messages": [message.model_dump(mode="json") for message in messages]}),
        "langchain.dicts.json": json.dumps(messages_to_dict(messages)),
        "langchain.serialised.json": dumps(messages),
    }


async def google_adk(chat: Any) -> dict[str, str]:
    """The session with its events."""
    found = await chat.runner.session_service.get_session(
        app_name="assistant", user_id="assistant", session_id=chat.session
    )
    return {
        "gemini.json": found.model_dump_json(exclude_none=True),
        "gemini.aliased.json": found.model_dump_json(exclude_none=True, by_alias=True),
    }


async def pydantic_agent(chat: Any) -> dict[str, str]:
    """The messages, and the spans as a collector keeps them."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    messages = ModelMessagesTypeAdapter.dump_json(chat.messages).decode()
    return {"pydantic-ai.json": messages, "otel.json": spans()}


async def session_files(chat: Any) -> dict[str, str]:
    """What Claude Code or Codex wrote into its own folder."""
    if sdk := getattr(chat, "client", None):
        home = Path(sdk.options.env["HOME"])
    else:
        home = Path(chat.place.environment["HOME"]) if hasattr(chat, "place") else chat.home
    format_ = "codex" if (home / "sessions").is_dir() and not (home / "projects").is_dir() else "claude-code"
    files = [file for name in ("projects", "sessions") for file in sorted((home / name).rglob("*.jsonl"))]
    return {f"{format_}.{number}.jsonl": file.read_text("utf-8") for number, file in enumerate(files)}


KEEPERS: dict[str, Callable[[Any], Any]] = {
    "openai_agents": openai_agents,
    "langgraph_agent": langgraph_agent,
    "google_adk": google_adk,
    "pydantic_agent": pydantic_agent,
    "claude_code": session_files,
    "claude_sdk": session_files,
    "codex": session_files,
}


def instrument() -> None:
    """Let Pydantic AI make spans, which :func:`spans` gives."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from pydantic_ai import Agent
    from pydantic_ai.models.instrumented import InstrumentationSettings

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter := InMemorySpanExporter()))
    Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
    globals()["exporter"] = exporter


def spans() -> str:
    """The spans since the last call, encoded by OpenTelemetry's exporter and written as its collector writes them."""
    from base64 import b64decode

    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    exporter = globals()["exporter"]
    found = MessageToDict(encode_spans(exporter.get_finished_spans()))
    exporter.clear()
    for span in (s for resource in found["resourceSpans"] for scope in resource["scopeSpans"] for s in scope["spans"]):
        ids = {key: b64decode(span[key]).hex() for key in ("traceId", "spanId", "parentSpanId") if key in span}
        span.update(ids)
    return json.dumps(found)


def keeping(worker: str, folder: Path) -> None:
    """Serve conversations as the worker does, and keep each in the folder."""
    original = import_module(worker).converse
    if worker == "pydantic_agent":
        instrument()

    @asynccontextmanager
    async def converse(start: Start) -> AsyncGenerator[Kept]:
        async with original(start) as chat:
            kept = Kept(chat)
            yield kept
            for name, text in (await KEEPERS[worker](chat)).items():
                (folder / f"{named(kept.first)}.{name}").write_text(text, encoding="utf-8")

    main(converse)


if __name__ == "__main__":
    os.environ.setdefault("OTEL_SDK_DISABLED", "false")
    keeping(sys.argv[1], Path(sys.argv[2]))
