#!/bin/sh
# The main job, start to end: serve a scenario over MCP to an agent, record it, grade it, show it. Argument: a bin folder.
set -eu
bin=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
report=${DEMO_REPORT:-runs/demo.html}
mkdir -p "$(dirname "$report")"
echo "An agent plays one scenario over MCP (streamable HTTP) with a simulated user:"
"$bin/sandbox-mcp" run late_for_dinner_low_battery --agent reference --transport http --out "$out/run" >/dev/null
echo
"$bin/sandbox-mcp" grade "$out/run/logs" --explain
echo "The same calls give the same results and the same state:"
"$bin/sandbox-mcp" replay "$out/run/logs"
echo
"$bin/sandbox-mcp" report "$out/run" --title "make demo" -o "$report" 2>/dev/null
echo "The same to look at, in a browser: $report"
