"""The OpenAPI document of the control API, made from its operations and bodies.

Policy: nothing in it is written by hand but descriptions, so it says what the server does and not what it once did.
"""

import re
from functools import cache
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from sandbox_mcp import __version__
from sandbox_mcp.play.server.api import JSON_LINES, OPERATIONS, Operation
from sandbox_mcp.play.server.models import Health, ProblemBody

REF = "#/components/schemas/{model}"
UNIVERSAL = (401, 403, 421)
"""What every operation may answer: no token, a foreign Origin, a foreign Host."""


@cache
def document() -> dict[str, Any]:
    """The whole document, as OpenAPI 3.1."""
    health: dict[str, Any] = {
        "operationId": "health",
        "summary": "Tell that the server is up.",
        "security": [],
        "responses": {"200": {"description": "OK", "content": _json(Health)}, **_problems((403, 421))},
    }
    paths: dict[str, dict[str, Any]] = {"/healthz": {"get": health}}
    for operation in OPERATIONS:
        described: dict[str, Any] = {
            "operationId": operation.name,
            "summary": operation.summary,
            "responses": {str(operation.status): _answer(operation), **_problems((*UNIVERSAL, *operation.problems))},
        }
        names = re.findall(r"{(\w+)}", operation.path)
        if names:
            described["parameters"] = [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
            ]
        if operation.takes:
            required = any(field.is_required() for field in operation.takes.model_fields.values())
            described["requestBody"] = {"required": required, "content": _json(operation.takes)}
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    bodies = [model for item in OPERATIONS for model in (item.takes, item.gives) if model]
    everything = dict.fromkeys([*bodies, Health, ProblemBody])
    _, schema = models_json_schema([(model, "serialization") for model in everything], ref_template=REF)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "sandbox-mcp control API",
            "version": __version__,
            "description": "Open sessions, speak for an agent, collect logs. Agents themselves use the MCP endpoints.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schema["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _answer(operation: Operation) -> dict[str, Any]:
    if operation.gives is None:
        return {"description": "One event per line.", "content": {JSON_LINES: {"schema": {"type": "string"}}}}
    return {"description": HTTPStatus(operation.status).phrase, "content": _json(operation.gives)}


def _problems(statuses: tuple[int, ...]) -> dict[str, Any]:
    return {
        str(status): {"description": HTTPStatus(status).phrase, "content": _json(ProblemBody)}
        for status in sorted(statuses)
    }


def _json(model: type[BaseModel]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": REF.format(model=model.__name__)}}}
