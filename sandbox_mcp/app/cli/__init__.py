"""The command line: one module per command, loaded when it is used, as is what only commands or mistakes need.

Policy: results go to stdout, everything else to stderr. Exit codes: 0 fine, 1 a threshold was missed, 2 bad usage or
bad input, 130 stopped by Ctrl-C. A user's mistake gets one line.
"""

import sys
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click

from sandbox_mcp import __version__
from sandbox_mcp.engine.errors import SandboxError

COMMANDS = MappingProxyType(
    {
        "demo": "Play one scenario, show it, grade it: no key needed.",
        "serve": "Serve scenarios to MCP clients, over stdio or HTTP.",
        "connect": "Connect an MCP host: print its configuration, or write it.",
        "scenarios": "List, show and check scenarios.",
        "synth": "Let a model draft scenarios, and keep what passes every check.",
        "check-server": "Say what agents stumble over in an MCP server's tools.",
        "mirror": "Record a real MCP server's answers, to play on.",
        "worlds": "List, show and check worlds, and start a new one.",
        "run": "Play scenarios with an agent and record them.",
        "play": "Play a scenario yourself, as its user or as the agent.",
        "agents": "List the agents there are, and install frameworks.",
        "endpoint": "Start a scripted model endpoint, for a dry run without a key.",
        "grade": "Score recorded sessions.",
        "compare": "Compare runs, with intervals.",
        "table": "Print the papers' tables for runs, with intervals.",
        "annotate": "Write a sheet on which people judge sessions.",
        "agreement": "Compare people's sheets with each other and with metrics.",
        "report": "Write one HTML file about runs, to mail or to attach.",
        "view": "Show runs in a browser, also while one is going on.",
        "replay": "Execute a recorded session again and compare.",
        "import": "Turn logs of other harnesses into ours.",
        "import-suite": "Turn a benchmark's own scenarios into a suite.",
        "export": "Turn our logs into other formats.",
    }
)
"""Every command and what it is for, so that --help loads none of them."""


MOST_TOLD = 30
"""How many faults of one thing are told at once."""
INTERRUPTED = 130
"""What shells expect of a command that was stopped by Ctrl-C."""


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:  # as when a shell completes what is being typed
                return None
            from difflib import get_close_matches

            near = get_close_matches(cmd_name, COMMANDS, n=2, cutoff=0.6)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {', '.join(COMMANDS)}"
            raise click.UsageError(f"unknown command {cmd_name!r}; {hint}", ctx)
        module = "import_" if cmd_name == "import" else cmd_name.replace("-", "_")
        return import_module(f"sandbox_mcp.app.cli.{module}").command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; foreign lines that it prints move no cursor."""
        from sandbox_mcp.engine.shown import leave_unread, screened
        from sandbox_mcp.play.telemetry import close, own_process

        own_process()
        with screened():
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # whoever read the output has had enough of it, and what is left of it goes nowhere
                leave_unread(sys.stdout)
                return None
            finally:
                close()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, "-V", "--version", prog_name="sandbox-mcp")
def group() -> None:
    """A stateful sandbox of tools over MCP, with a simulated user and an offline grader."""


def main() -> None:
    """Run the command line and exit."""
    try:
        code = group.main(standalone_mode=False)  # click returns the code of an Exit instead of raising it
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        fail(_in_our_words(error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("sandbox-mcp: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except SandboxError as error:
        fail(*error.lines)
    except MemoryError:
        fail("there is not enough memory for this")
    except RecursionError:
        fail("something that was to be read nests too deeply")
    except FileExistsError as error:
        fail(f"{str(error.filename)!r} is there already, and is not a folder; name another place")
    except OSError as error:
        place = f": {str(error.filename)!r}" if error.filename else ""
        fail(f"{error.strerror or error}{place}")
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _in_our_words(error: click.ClickException) -> str:
    """Describe a fault of a command line in the form of all other mistakes, and say where to read on."""
    told = " ".join(error.format_message().split()).rstrip(".").replace(". (Did you mean", " (did you mean")
    context = getattr(error, "ctx", None)
    about = context.command_path if isinstance(context, click.Context) else "sandbox-mcp"
    return f"{told[:1].lower()}{told[1:]}; see '{about} --help'"


def fail(*problems: str) -> None:
    """Say the faults, in one line each, and exit with code 2."""
    warn(*problems[:MOST_TOLD])
    if len(problems) > MOST_TOLD:
        warn(f"and {len(problems) - MOST_TOLD} more")
    sys.exit(2)


def warn(*told: str) -> None:
    """Say beside the results what a person should know, in one line each."""
    from sandbox_mcp.engine.shown import one_line

    for text in told:
        click.echo(f"sandbox-mcp: {one_line(text)}", err=True)
