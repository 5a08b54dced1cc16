"""A server that answers what no server should: what the first argument names, in its list or to each call."""

import json
import sys
from typing import Any

HOW = sys.argv[1] if len(sys.argv) > 1 else ""
DEEP = '{"type":"object","properties":{"x":' * 400 + '{"type":"string"}' + "}}" * 400
FLAT = '{"type":"object","properties":{"x":{"type":"string"}}}'
TEXT = '{"content":[{"type":"text","text":"fine"}]}'
RESULTS = {
    "null": "null",
    "nan": '{"content":[{"type":"text","text":"n"}],"structuredContent":{"n":NaN,"i":Infinity}}',
    "surrogate": '{"content":[{"type":"text","text":"lone \\ud800 half"}],"structuredContent":{"t":"\\udfff"}}',
    "deep": '{"content":[{"type":"text","text":"d"}],"structuredContent":{"d":' + "[" * 400 + "]" * 400 + "}}",
    "deeper": '{"content":[{"type":"text","text":"d"}],"structuredContent":{"d":' + "[" * 9000 + "]" * 9000 + "}}",
    "list": "[]",
    "blocks": '{"content":[null,7,{"type":"text"}]}',
    "no_content": "{}",
    "number": '{"content":[{"type":"text","text":"n"}],"structuredContent":{"n":1e999}}',
}
LISTS = {
    "deep_schema": f'{{"tools":[{{"name":"look","inputSchema":{DEEP}}}]}}',
    "null_list": "null",
    "null_tool": '{"tools":[null]}',
    "surrogate_list": f'{{"tools":[{{"name":"look","description":"\\ud800","inputSchema":{FLAT}}}]}}',
    "nan_schema": '{"tools":[{"name":"look","inputSchema":{"type":"object","properties":{"x":{"default":NaN}}}}]}',
    "no_schema": '{"tools":[{"name":"look","inputSchema":{"type":7,"properties":[],"required":5}}]}',
}
HOWS = (*RESULTS, *LISTS)


def said(message: dict[str, Any]) -> str:
    match message["method"]:
        case "initialize":
            told = {"name": "hostile", "version": "1"}
            return json.dumps({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": told})
        case "tools/list":
            return LISTS.get(HOW, f'{{"tools":[{{"name":"look","inputSchema":{FLAT}}}]}}')
        case "tools/call":
            return RESULTS.get(HOW, TEXT)
        case _:
            return ""


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = said(message)
            rest = f'"result":{result}' if result else '"error":{"code":-32601,"message":"unknown method"}'
            sys.stdout.write(f'{{"jsonrpc":"2.0","id":{json.dumps(message["id"])},{rest}}}\n')
            sys.stdout.flush()
