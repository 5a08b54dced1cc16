"""What a command may do to a run: nothing. Real processes that hang, die, talk without end, or leave children."""

import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from sandbox_clients import line_agent, line_process
from sandbox_clients.base import AgentError, Brief, Conversation
from sandbox_clients.line_agent import LineAgent
from sandbox_clients.mcp_tools import McpTarget
from sandbox_clients.settings import AgentSettings

from sandbox_mcp.engine.errors import inner_errors
from tests.each import each

BRIEF = Brief("Be kind.", McpTarget("http://127.0.0.1:9/mcp", {"Authorization": "Bearer secret"}))
"""Where there are no tools: these agents need none."""
HEAD = """
import json, os, signal, subprocess, sys, time
def say(**message):
    print(json.dumps(message), flush=True)
"""
ANSWERING = (
    HEAD
    + """
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        say(type="ready", lasting=LASTING)
    elif message["type"] == "end":
        say(type="ended")
    else:
        text = ""
"""
)
"""Answers with what the rest of the script puts into ``text``."""
OTHER = "        say(type='reply', text=str(text))\n"


def answering(code: str, lasting: bool = False, after: str = "") -> str:
    """A script that makes its answer with this code, and does something after each message."""
    indented = "".join(f"        {line}\n" for line in code.splitlines())
    rest = "".join(f"    {line}\n" for line in after.splitlines())
    return ANSWERING.replace("LASTING", str(lasting)) + indented + OTHER + rest


READY = "sys.stdin.readline()\nsay(type='ready')\nsys.stdin.readline()\n"
"""Become ready, and wait for the first message."""


def agent_of(script: str, **options: Any) -> LineAgent:
    return LineAgent("mine", (sys.executable, "-IS", "-c", script), AgentSettings(), **options)


@asynccontextmanager
async def talking(script: str, **options: Any) -> AsyncGenerator[Conversation]:
    """One conversation with a script."""
    agent = agent_of(script, **options)
    async with agent.converse(BRIEF) as conversation:
        yield conversation
    await agent.aclose()


def asked(script: str, message: str = "Hello", **options: Any) -> str:
    """What a script answers."""

    async def work() -> str:
        async with talking(script, **options) as conversation:
            return (await conversation.turn(message)).text

    return anyio.run(work)


def problem(script: str, **options: Any) -> str:
    """Why a script did not answer."""
    with pytest.raises(BaseExceptionGroup) as caught:
        asked(script, **options)
    (error,) = inner_errors(caught.value)
    assert isinstance(error, AgentError)
    return str(error)


def ends(pid: int) -> bool:
    """Whether a process ends, before it would by itself."""
    for _ in range(1000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less than a process would get."""
    monkeypatch.setattr(line_process, "PATIENCE", 0.2)
    monkeypatch.setattr(line_agent, "PATIENCE", 0.2)


# what it writes


def test_long_messages_arrive_whole() -> None:
    text = "Zoë " * 1_000_000
    assert asked(answering("text = message['text']"), text) == text


def test_a_line_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_process, "LONGEST_LINE", 200_000)
    endless = HEAD + "while True: sys.stdout.write('x' * 65536)"
    assert problem(endless) == "the agent's process wrote 200000 bytes without an end of line"


def test_endless_lines_are_no_answer() -> None:
    assert "'x'; expected one JSON object a line" in problem(HEAD + "while True: print('x')")


def test_what_it_says_on_standard_error_holds_nothing_up() -> None:
    assert asked(answering("sys.stderr.write('x' * 20_000_000); text = 'done'")) == "done"


def test_its_last_words_need_no_end_of_line() -> None:
    assert problem("import sys; sys.exit('no key')").endswith("ended with exit code 1; its last words: no key")
    assert problem("import sys; sys.stderr.write('no key'); sys.exit(2)").endswith("code 2; its last words: no key")


def test_its_last_line_need_have_no_end() -> None:
    assert problem('print(\'{"type": "error", "error": "no model"}\', end=\'\')') == "no model"


@each("answer", ["[" * 100_000, '{"type": "reply", "text": "x", "usage": {"requests": NaN}}', '"x"'])
def test_what_is_no_json_object_is_told(answer: str) -> None:
    script = HEAD + READY + f"print('''{answer}''', flush=True)\nsys.stdin.read()"
    assert problem(script).endswith("expected one JSON object a line")


@each(
    ("said", "expected"),
    [
        ({"usage": {"prompt_tokens": "3"}}, "a usage with prompt_tokens '3'; expected a whole number from 0"),
        ({"usage": {"requests": -1}}, "a usage with requests -1; expected a whole number from 0"),
        ({"usage": {"requests": True}}, "a usage with requests True; expected a whole number from 0"),
        ({"usage": [3]}, "expected usage to be an object"),
        ({"meta": "fast"}, "expected meta to be an object"),
        ({"text": None}, "expected a reply with text"),
    ],
)
def test_what_would_spoil_the_log_is_told(said: dict[str, Any], expected: str) -> None:
    reply = json.dumps({"type": "reply", "text": "Hi.", **said})
    assert expected in problem(HEAD + READY + f"print({reply!r}, flush=True)\nsys.stdin.read()")


# how it ends


def test_a_process_that_is_not_ready_in_time_is_given_up() -> None:
    assert problem("import time; time.sleep(60)", begin_within=0.2) == (
        "the agent's process was not ready within 0.2 seconds"
    )


def test_a_process_that_is_killed_is_told_as_that() -> None:
    assert "was killed by SIGKILL" in problem(answering("os.kill(os.getpid(), signal.SIGKILL)"))


def test_a_process_that_does_not_answer_is_gone_once_nobody_waits() -> None:
    async def work() -> float:
        pids: list[int] = []
        async with talking(answering("sys.stderr.write('busy'); time.sleep(60)")) as conversation:
            pids.append(conversation.process.process.pid)
            with anyio.move_on_after(0.2):
                await conversation.turn("Hello")
            begun = time.monotonic()
        assert ends(pids[0])
        return time.monotonic() - begun

    assert anyio.run(work) < line_process.PATIENCE, "it is busy, so it is not waited for"


@pytest.mark.usefixtures("hasty")
def test_a_process_that_will_not_end_is_killed() -> None:
    stubborn = "signal.signal(signal.SIGTERM, signal.SIG_IGN); text = os.getpid()"
    assert ends(int(asked(answering(stubborn) + "time.sleep(60)")))


def test_children_that_it_leaves_are_killed_and_hold_nothing_up() -> None:
    begun = time.monotonic()
    pid = int(asked(answering("text = subprocess.Popen(['sleep', '60']).pid")))
    assert ends(pid)
    assert time.monotonic() - begun < line_process.PATIENCE


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not show environments")
def test_children_that_leave_its_group_are_killed_as_well() -> None:
    daemon = "text = subprocess.Popen(['sleep', '60'], start_new_session=True).pid"
    assert ends(int(asked(answering(daemon))))


def test_an_answer_that_was_not_asked_for_is_no_answer() -> None:
    both = json.dumps({"type": "ready"}) + "\\n" + json.dumps({"type": "reply", "text": "Done."})
    said = problem(HEAD + f"sys.stdin.readline()\nprint('{both}', flush=True)\nsys.stdin.read()")
    assert said.endswith('"text": "Done."}\' before it was asked; expected one answer a message')


def test_a_process_that_ends_at_once_is_told_with_what_was_awaited() -> None:
    assert problem("raise SystemExit(0)").endswith('ended with exit code 0; expected a line {"type": "ready"}')


def test_children_of_a_process_that_died_are_killed() -> None:
    said = problem(answering("print(subprocess.Popen(['sleep', '60']).pid, file=sys.stderr); os._exit(3)"))
    assert ends(int(said.rpartition(" ")[2]))
    assert "ended with exit code 3" in said


def test_where_there_are_no_process_groups_the_process_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "killpg")
    assert ends(int(asked(answering("text = os.getpid()"))))


# one conversation after the other

COUNT = "count = globals().get('count', 0) + 1; text = f'{os.getpid()} {count}'"


def answers_of(agent: LineAgent, *conversations: Callable[[Conversation], Awaitable[Any]]) -> list[Any]:
    """What came of conversations, one after the other."""

    async def work() -> list[Any]:
        found: list[Any] = []
        for talk in conversations:
            try:
                async with agent.converse(BRIEF) as conversation:
                    found.append(await talk(conversation))
            except BaseExceptionGroup as errors:
                found.append(str(inner_errors(errors)[0]))
        found.append(len(agent.idle))
        await agent.aclose()
        return found

    return anyio.run(work)


async def hello(conversation: Conversation) -> str:
    return (await conversation.turn("Hello")).text


def test_a_process_that_lasts_serves_the_next_conversation() -> None:
    first, second, kept = answers_of(agent_of(answering(COUNT, lasting=True)), hello, hello)
    assert first.split()[0] == second.split()[0]
    assert (first.split()[1], second.split()[1], kept) == ("1", "2", 1)


def test_a_process_that_does_not_say_so_serves_one() -> None:
    first, second, kept = answers_of(agent_of(answering(COUNT)), hello, hello)
    assert first.split()[0] != second.split()[0]
    assert kept == 0


def test_a_process_that_died_in_between_is_replaced() -> None:
    dying = answering(COUNT, lasting=True, after="if message['type'] == 'end': break")
    first, second, _ = answers_of(agent_of(dying), hello, hello)
    assert first.split()[0] != second.split()[0]


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("ending", ["time.sleep(60)", "say(type='error', error='x')", "say(type='x')"])
def test_a_process_that_does_not_let_go_is_not_kept(ending: str) -> None:
    script = answering(COUNT, lasting=True).replace('say(type="ended")', ending)
    first, second, kept = answers_of(agent_of(script), hello, hello)
    assert first.split()[0] != second.split()[0]
    assert kept == 0


def test_a_process_that_speaks_unasked_is_replaced() -> None:
    ending = "say(type='ended'); time.sleep(0.1); say(type='x')"
    script = answering(COUNT, lasting=True).replace('say(type="ended")', ending)
    first, second, _ = answers_of(agent_of(script), hello, hello)
    assert first.split()[0] != second.split()[0]


def test_a_process_that_broke_is_not_kept() -> None:
    script = answering(COUNT + "\nif count == 1: say(type='error', error='no luck'); continue", lasting=True)
    first, second, kept = answers_of(agent_of(script), hello, hello)
    assert first == "no luck"
    assert (second, kept) == ("no luck", 0), "every process is a new one, so none gets to its second answer"


def test_what_it_said_on_standard_error_is_not_told_of_the_next_conversation() -> None:
    script = answering("print('old' if COUNT else '', file=sys.stderr, flush=True)", lasting=True).replace(
        "COUNT", "not globals().get('seen')"
    )
    script = script.replace(
        '        text = ""', "        text = ''\n        if globals().get('seen'): os._exit(3)\n        "
    )
    script += "    seen = True if message['type'] == 'user' else globals().get('seen')\n"
    told = answers_of(agent_of(script), hello, hello)[1]
    assert told.startswith("the agent's process ended with exit code 3; expected a line")


def test_many_at_once_have_a_process_each_and_all_are_ended() -> None:
    async def work() -> tuple[set[str], int]:
        agent = agent_of(answering("text = os.getpid()", lasting=True))
        pids: set[str] = set()

        async def one() -> None:
            async with agent.converse(BRIEF) as conversation:
                pids.add((await conversation.turn("Hello")).text)
                await all_there.wait()

        async with anyio.create_task_group() as group:
            all_there = anyio.Event()
            for _ in range(6):
                group.start_soon(one)
            while len(pids) < 6:  # noqa: ASYNC110 - nobody tells
                await anyio.sleep(0.01)
            all_there.set()
        kept = len(agent.idle)
        await agent.aclose()
        return pids, kept

    pids, kept = anyio.run(work)
    assert kept == 6
    assert all(ends(int(pid)) for pid in pids)


# what every framework's worker shares


WORKER = """
import asyncio, pathlib, sys
from contextlib import asynccontextmanager
sys.path.insert(0, {folder!r})
from lines import AgentAnswer, main

@asynccontextmanager
async def converse(start):
    try:
        yield Chat(start)
    finally:
        {ending}

class Chat:
    def __init__(self, start):
        self.start = start
    async def turn(self, text):
        {turn}

main(converse)
"""


def worker(turn: str, ending: str = "pass") -> LineAgent:
    folder = str(Path(line_agent.__file__).parent / "workers")
    return agent_of(WORKER.format(folder=folder, turn=turn, ending=ending))


def test_a_worker_serves_one_conversation_after_the_other() -> None:
    first, second, kept = answers_of(worker("import os; return AgentAnswer(f'{text} {os.getpid()}')"), hello, hello)
    assert first == second
    assert kept == 1


def test_a_worker_that_cannot_let_go_spoils_only_itself() -> None:
    agent = worker("import os; return AgentAnswer(str(os.getpid()))", "raise ValueError('stuck')")
    first, second, kept = answers_of(agent, hello, hello)
    assert first != second
    assert kept == 0


def test_a_worker_tells_in_one_line_what_broke() -> None:
    said, _ = answers_of(worker("raise ExceptionGroup('all', [ValueError('no\\nmodel')])"), hello)
    assert said == "ValueError: no model"


def test_a_worker_that_is_stopped_in_the_middle_tidies_up(tmp_path: Path) -> None:
    mark = tmp_path / "tidy"

    async def give_up(conversation: Conversation) -> None:
        with anyio.move_on_after(0.2):
            await conversation.turn("Hello")

    answers_of(worker("await asyncio.sleep(60)", f"pathlib.Path({str(mark)!r}).touch()"), give_up)
    assert mark.exists()
