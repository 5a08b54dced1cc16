#!/bin/sh
# The main job, start to end: serve a scenario over MCP to an agent, record it, grade it, show it. Argument: a bin folder.
set -eu
bin=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$bin/sandbox-mcp" run message_wifi_and_cellular --agent reference --transport http --out "$out" 
"$bin/sandbox-mcp" grade "$out/logs" --explain
