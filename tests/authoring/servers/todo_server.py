"""A server of tasks that speaks the protocol by hand, so that it starts at once: random ids, and state in its folder.

With ``empty`` it has no task at first.
"""

import json
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = Path("tasks.json")
TEXT = {"type": "string"}
TAG = {"type": "object", "properties": {"name": {**TEXT, "enum": ["@home"]}}, "required": ["name"]}
TOOLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "add_task": (
        "Adds a task to the list.",
        {
            "title": TEXT,
            "urgency": {"type": "integer", "minimum": 1, "maximum": 5},
            "tags": {"type": "array", "items": TAG},
        },
    ),
    "finish_task": ("Marks a task as done.", {"task_id": TEXT}),
    "tasks": ("All tasks.", {}),
    "get_task": ("Gets one task.", {"task_id": TEXT}),
    "paint": ("Paints the list in a colour.", {"shade": {**TEXT, "pattern": "^#[0-9]+$"}}),
}


def tasks() -> list[dict[str, Any]]:
    if not FILE.exists():
        first = {
            "id": str(uuid.uuid4()),
            "title": "Water the plants",
            "done": False,
            "urgency": 2,
            "tags": [{"name": "@work"}],
            "made_at": time.time(),
        }
        save([] if "empty" in sys.argv else [first])
    return json.loads(FILE.read_text())


def save(rows: list[dict[str, Any]]) -> None:
    FILE.write_text(json.dumps(rows))


def called(name: str, given: Mapping[str, Any]) -> dict[str, Any] | list[dict[str, Any]]:
    rows = tasks()
    if name == "add_task":
        row = {"id": str(uuid.uuid4()), **given, "done": False, "made_at": time.time()}
        save([*rows, row])
        return row
    if name == "tasks":
        return rows
    if name == "paint":
        raise ValueError("the shade is unknown")
    found = next((row for row in rows if row["id"] == given["task_id"]), None)
    if found is None:
        raise ValueError(f"there is no task {given['task_id']}")
    if name == "finish_task":
        found["done"] = True
        save(rows)
    return found


def answer(method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        told = {"name": "todo", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": told}
    if method == "tools/list":
        return {
            "tools": [
                {
                    "name": name,
                    "description": text,
                    "inputSchema": {"type": "object", "properties": properties, "required": list(properties)},
                }
                for name, (text, properties) in TOOLS.items()
            ]
        }
    if method == "tools/call":
        try:
            value = called(params["name"], params.get("arguments") or {})
        except ValueError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
        whole = {"result": value} if isinstance(value, list) else value
        return {"content": [{"type": "text", "text": json.dumps(value)}], "structuredContent": whole}
    return None


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message["method"], message.get("params") or {})
        said = {"error": {"code": -32601, "message": "unknown method"}} if result is None else {"result": result}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}) + "\n")
        sys.stdout.flush()
