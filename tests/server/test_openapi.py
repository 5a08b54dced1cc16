"""The OpenAPI document is what the server does: every route is in it, and every answer has the form it promises."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sandbox_mcp.play.server.api import OPERATIONS
from sandbox_mcp.play.server.app import build_app
from sandbox_mcp.play.server.openapi import document
from sandbox_mcp.play.session.manager import SessionManager
from tests.each import each
from tests.server.serving_kit import SUITE, Served

pytestmark = pytest.mark.anyio
DOCUMENT = document()


def check(path: str, method: str, answer: Any) -> None:
    """Hold an answer against the document."""
    promised = DOCUMENT["paths"][path][method]["responses"]
    assert str(answer.status_code) in promised
    content = promised[str(answer.status_code)]["content"]
    assert list(content) == [answer.headers["content-type"]]
    if "application/json" in content:
        schema = {**content["application/json"]["schema"], "components": DOCUMENT["components"]}
        Draft202012Validator(schema).validate(answer.json())


def test_every_route_of_the_api_is_described_and_nothing_else() -> None:
    routes = {getattr(route, "path", "") for route in build_app(SessionManager(SUITE)).routes}
    assert set(DOCUMENT["paths"]) == {path for path in routes if path.startswith(("/api", "/healthz"))}


def test_operations_have_names_of_their_own() -> None:
    assert len({operation.name for operation in OPERATIONS}) == len(OPERATIONS)


def test_references_lead_somewhere() -> None:
    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if "$ref" in value else []
            return own + [found for item in value.values() for found in references(item)]
        return [found for item in value for found in references(item)] if isinstance(value, list) else []

    found = set(references(DOCUMENT))
    known = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert found == known
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


async def test_the_server_hands_it_out_without_a_token(server: Served) -> None:
    assert (await server.http.get("/openapi.json")).json() == DOCUMENT
    check("/healthz", "get", await server.http.get("/healthz"))


async def test_good_answers_keep_their_promise(server: Served) -> None:
    created = await server.api("POST", "/api/sessions", {"scenario": "wifi_off"})
    here = f"/api/sessions/{created.json()['id']}"
    there = "/api/sessions/{id}"
    check("/api/sessions", "post", created)
    check("/api/scenarios", "get", await server.api("GET", "/api/scenarios"))
    check(there, "get", await server.api("GET", here))
    check(f"{there}/messages", "post", await server.api("POST", f"{here}/messages", {"text": "Which phone?"}))
    check(f"{there}/end", "post", await server.api("POST", f"{here}/end", {"reason": "abandoned"}))
    check(f"{there}/trajectory", "get", await server.api("GET", f"{here}/trajectory"))
    check(there, "delete", await server.api("DELETE", here))


@each(
    ("method", "path", "body"),
    [
        ("post", "/api/sessions", {"scenario": "nope"}),
        ("post", "/api/sessions", {"scenario": 1}),
        ("get", "/api/sessions/{id}", None),
        ("delete", "/api/sessions/{id}", None),
        ("post", "/api/sessions/{id}/messages", {"text": "x"}),
        ("post", "/api/sessions/{id}/end", {}),
        ("get", "/api/sessions/{id}/trajectory", None),
    ],
)
async def test_bad_answers_keep_theirs(server: Served, method: str, path: str, body: Any) -> None:
    there = path.replace("{id}", "nope")
    check(path, method, await server.api(method.upper(), there, body))
    check(path, method, await server.http.request(method.upper(), there))  # without the token
    check(path, method, await server.api(method.upper(), there, body, headers={"Host": "evil.example"}))
    check(path, method, await server.api(method.upper(), there, body, headers={"Origin": "http://evil.example"}))


async def test_bodies_are_what_the_document_asks_for(server: Served) -> None:
    schema = DOCUMENT["components"]["schemas"]["NewSession"]
    full = {
        "scenario": "wifi_off", "variant": "base", "seed": 1, "trial": 0, "user": "scripted",
        "instructions": "Be brief.",
        "user_channel": "harness", "agent": {"model": "m"},
    }  # fmt: skip
    assert set(full) == set(schema["properties"])
    assert schema["required"] == ["scenario"]
    Draft202012Validator(schema).validate(full)
    assert (await server.api("POST", "/api/sessions", full)).status_code == 201
