"""``sandbox-mcp demo``: the main job from start to end, without a key, with the session shown."""

import shlex
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from sandbox_mcp.app.cli.options import WRITTEN

SCENARIO = "late_for_dinner_low_battery"
NEXT = """
What to do next:
  sandbox-mcp scenarios list                      see what there is to play
  sandbox-mcp play wifi_off                       play it yourself
  sandbox-mcp connect claude-desktop              play it from your MCP host
  sandbox-mcp run wifi_off --agent openai --model NAME --out runs/mine
                                                  try a model (--base-url for one of your own)"""


@click.command()
@click.option("-o", "--out", type=WRITTEN, default="runs/demo.html", help="The page to write.")
def command(out: Path) -> None:
    """Play one scenario, show the session, grade it, execute it again, and write a page about it.

    Needs no key and no network. The agent is the scenario's own solution, which reaches its tools over MCP.
    """
    with TemporaryDirectory() as folder:
        run = str(Path(folder, "run"))
        logs = str(Path(run, "logs"))
        _step("1/4 An agent plays one scenario over MCP (streamable HTTP) with a simulated user:")
        _call("run", SCENARIO, "--agent", "reference", "--transport", "http", "--out", run)
        _step("2/4 The grader explains the session, which the log holds whole:")
        _call("grade", logs, "--explain")
        _step("3/4 The same calls are executed again and give the same results and the same state:")
        _call("replay", logs)
        _step("4/4 The same as a page:")
        _call("report", run, "--title", "demo", "-o", str(out))
    click.echo(f"Open it in a browser: {out}")
    click.echo(NEXT)
    script = Path(sys.executable).with_name("activate")
    if shutil.which("sandbox-mcp") is None and script.exists():
        place = script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script
        click.echo(f"The command is not on your path yet; in this shell, first: . {shlex.quote(str(place))}")


def _step(text: str) -> None:
    click.echo(f"\n{text}")


def _call(*arguments: str) -> None:
    from sandbox_mcp.app.cli import group

    code = group.main(list(arguments), prog_name="sandbox-mcp", standalone_mode=False)
    if code:
        raise click.exceptions.Exit(code)
