"""Every tool over MCP: a real client checks each result against the schema that the server has listed for it."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client

from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.play.server.mcp_server import server_for
from tests.each import each
from tests.server.serving_kit import ERAS, opened, text_of

pytestmark = pytest.mark.anyio
each_era = each("era", ERAS)
USUAL = [name for name, tool in phone.agent_tools.items() if tool.domain != "account"]


def samples() -> dict[str, dict[str, Any]]:
    """The calls that the page of tools was made with."""
    path = Path(__file__).resolve().parents[2] / "docs" / "generate.py"
    spec = importlib.util.spec_from_file_location("generate_page", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SAMPLES


SAMPLES = samples()


def arguments_of(name: str) -> dict[str, Any]:
    if name.startswith("set_") and name.endswith("_status"):
        return {"on": name == "set_low_battery_mode_status"}
    return SAMPLES.get(name, {})


@each("name", USUAL)
@each_era
async def test_a_result_is_what_its_schema_promises(era: str, name: str) -> None:
    async with Client(server_for(opened(variant="all_tools")), mode=era) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        arguments = arguments_of(name)
        if name == "cancel_timer":
            started = await client.call_tool("set_timer", {"seconds": 60})
            arguments = {"timer_id": json.loads(text_of(started))["result"]}
        result = await client.call_tool(name, arguments)
    assert not result.is_error, text_of(result)
    schema = listed[name].output_schema
    assert schema is not None
    jsonschema.validate(result.structured_content, schema)
    jsonschema.validate(arguments, listed[name].input_schema)


@each("name", USUAL)
@each_era
async def test_arguments_that_do_not_fit_are_told_by_name(era: str, name: str) -> None:
    async with Client(server_for(opened(variant="all_tools")), mode=era) as client:
        result = await client.call_tool(name, {**arguments_of(name), "surprise": 1})
    assert result.is_error
    assert "surprise" in text_of(result)
