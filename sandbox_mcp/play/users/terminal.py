"""A person at a terminal: what they are shown, and what they type.

Policy: a terminal gets line editing and a history, a pipe is read line by line and shown what was read, so that its
transcript is whole. What is shown goes to stderr, because stdout is for results; only the prompt of a real terminal
goes where line editing needs it. Typing stops everything else, which is harmless, since one person plays one session.
"""

import signal
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

import anyio

from sandbox_mcp.play.users.base import UserError


class Terminal:
    """The terminal, or the pipe, that this process was started with."""

    def show(self, text: str) -> None:
        """Show a text to the person."""
        print(text, file=sys.stderr, flush=True)  # noqa: T201

    async def ask(self, prompt: str, words: Sequence[str] = ()) -> str | None:
        """One line of the person's; None once they end their input. ``words`` are offered to complete what they type.

        Raises:
            UserError: there is nothing to read from.
        """
        try:
            return self._read(prompt, words)
        except KeyboardInterrupt:
            if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in what a shell has started in the background
                raise
            signal.raise_signal(signal.SIGINT)  # for the handler that would have got it, such as the event loop's
            await anyio.sleep_forever()
            raise
        except UnicodeDecodeError as error:
            raise UserError(f"what was typed is not {error.encoding} text") from error

    def _read(self, prompt: str, words: Sequence[str]) -> str | None:
        if sys.stdin is None or sys.stdin.closed:
            raise UserError("there is no one to ask: standard input is closed")
        if sys.stdin.isatty() and sys.stdout.isatty():
            with _interruptible(), _completing(words):
                try:
                    return input(prompt)
                except EOFError:
                    print()  # noqa: T201
                    return None
        print(prompt, end="", file=sys.stderr, flush=True)  # noqa: T201
        line = sys.stdin.readline()
        typed = line.rstrip("\r\n")
        if not (line and sys.stdin.isatty()):  # a terminal has shown what was typed, and its end of line
            self.show(typed)
        return typed if line else None


@contextmanager
def _interruptible() -> Generator[None]:
    """Let Ctrl-C stop the reading at once, in place of what handles it otherwise."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _completing(words: Sequence[str]) -> Generator[None]:
    """Complete these words with the tabulator, where there is line editing."""
    with suppress(ImportError):
        import readline

        def complete(typed: str, number: int) -> str | None:
            fitting = [word for word in words if word.startswith(typed)]
            if number >= len(fitting):
                return None
            return fitting[number] if len(fitting) > 1 else f"{fitting[number]} "

        readline.set_completer(complete)
        readline.set_completer_delims(" ")
        is_libedit = "libedit" in (readline.__doc__ or "")
        readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    yield
