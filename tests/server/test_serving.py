"""A server inside a program: it comes up, gives way, and leaves nothing behind."""

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client

from sandbox_mcp.play.server.api import OPERATIONS
from sandbox_mcp.play.server.app import base_url, build_app, listener_on, serving
from sandbox_mcp.play.server.mcp_server import BROKEN, server_for
from sandbox_mcp.play.server.settings import ServerError
from sandbox_mcp.play.session.manager import SessionManager
from tests.server.serving_kit import ERAS, SUITE, opened, opened_in, text_of

pytestmark = pytest.mark.anyio
DOCS = Path(__file__).resolve().parents[2] / "docs"


async def refuses(base: str) -> bool:
    async with httpx2.AsyncClient() as http:
        try:
            await http.get(f"{base}/healthz")
        except httpx2.ConnectError:
            return True
    return False


async def test_it_is_there_as_long_as_the_context() -> None:
    async with serving(SessionManager(SUITE)) as base, httpx2.AsyncClient() as http:
        assert (await http.get(f"{base}/healthz")).status_code == 200
    assert await refuses(base)


async def test_two_servers_live_side_by_side() -> None:
    async with serving(SessionManager(SUITE)) as one, serving(SessionManager(SUITE)) as other:
        assert one != other
        assert not await refuses(one)
        assert not await refuses(other)


async def test_a_failure_inside_is_told_as_it_is_and_the_port_is_free_again() -> None:
    bases: list[str] = []

    async def fail() -> None:
        async with serving(SessionManager(SUITE)) as base:
            bases.append(base)
            raise LookupError("mine")

    with pytest.raises(BaseException) as error:  # noqa: PT011  (a group of one)
        await fail()
    assert error.group_contains(LookupError, match="mine") if isinstance(error.value, BaseExceptionGroup) else True
    assert await refuses(bases[0])


async def test_a_program_that_gives_up_waiting_leaves_no_server() -> None:
    bases: list[str] = []
    with anyio.CancelScope() as waiting:
        async with serving(SessionManager(SUITE)) as base:
            bases.append(base)
            waiting.cancel()
            await anyio.sleep_forever()
    assert await refuses(bases[0])


async def test_signals_stay_with_whoever_owns_the_process() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    async with serving(SessionManager(SUITE)):
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


async def test_sessions_outlive_the_server_and_can_be_served_again() -> None:
    manager = SessionManager(SUITE)
    session = opened_in(manager, variant="all_tools")
    for on in (False, True):
        async with serving(manager) as base, Client(f"{base}/s/{session.token}/mcp") as client:
            assert not (await client.call_tool("set_wifi_status", {"on": on})).is_error


async def test_idle_sessions_are_given_up_while_it_serves() -> None:
    manager = SessionManager(SUITE, idle_seconds=0.05)
    opened_in(manager)
    async with serving(manager):
        with anyio.fail_after(60):
            while len(manager):  # noqa: ASYNC110
                await anyio.sleep(0.01)


@pytest.mark.parametrize("era", ERAS)
async def test_a_bug_of_ours_is_a_tool_error_and_told_on_stderr(
    era: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session = opened()

    def broken(_: object) -> None:
        raise KeyError("secret detail")

    monkeypatch.setattr(session.session, "call_batch", broken)
    async with Client(server_for(session), mode=era) as client:
        result = await client.call_tool("set_wifi_status", {"on": False})
    assert result.is_error
    assert text_of(result) == BROKEN
    assert "secret detail" in caplog.text


def test_a_socket_sends_at_once() -> None:
    """asyncio turns Nagle's algorithm off only where the socket says that it is TCP."""
    listener = listener_on("127.0.0.1", 0)
    try:
        assert listener.proto == socket.IPPROTO_TCP
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", base_url(listener))
    finally:
        listener.close()


def test_a_port_in_use_is_told() -> None:
    first = listener_on("127.0.0.1", 0)
    try:
        with pytest.raises(ServerError, match=r"cannot listen on 127.0.0.1 port \d+: .*; choose another with --port"):
            listener_on("127.0.0.1", first.getsockname()[1])
    finally:
        first.close()


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(ServerError, match=r"cannot listen on 192.0.2.1 port 0"):
        listener_on("192.0.2.1", 0)


def test_every_operation_is_in_the_documentation() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    assert not [item.name for item in OPERATIONS if f"`{item.method} {item.path}`" not in text]


def test_every_code_of_an_error_is_in_the_documentation() -> None:
    source = "".join(
        path.read_text(encoding="utf-8") for path in (DOCS.parent / "sandbox_mcp" / "play" / "server").glob("*.py")
    )
    codes = set(re.findall(r'(?:problem|_BadBodyError)\(\s*\d{3}, "(\w+)"', source))
    codes |= set(re.findall(r'Error, \d{3}, "(\w+)"\)', source)) | {"not_found", "method_not_allowed"}
    documented = set(re.findall(r"`(\w+)`", (DOCS / "api.md").read_text(encoding="utf-8")))
    assert len(codes) > 12
    assert codes <= documented


PROGRAM, FIXTURE = re.findall(r"```python\n(.*?)```", (DOCS / "serving.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_program_in_the_documentation_runs() -> None:
    exec(compile(PROGRAM, "docs/serving.md", "exec"), {"__name__": "__main__"})


def test_the_fixture_in_the_documentation_serves_a_tape(tmp_path: Path) -> None:
    (tmp_path / "lamps.jsonl").write_bytes((DOCS.parent / "tests" / "worlds" / "recorded" / "lamps.jsonl").read_bytes())
    use = "\n\ndef test_it(lamps):\n    assert lamps.url.startswith('http')\n    assert not lamps.calls\n"
    (tmp_path / "test_lamps.py").write_text(FIXTURE + use, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_lamps.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_an_application_can_be_built_without_settings() -> None:
    assert build_app(SessionManager(SUITE)).routes
