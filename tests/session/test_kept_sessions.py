"""Sessions that outlive their server: found again by their URLs, whatever moment it was killed at."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.engine.trajectory import read_trajectory
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.kept_sessions import KeptSessions, cared_for
from sandbox_mcp.play.session.manager import SessionManager, TooManySessionsError, UnknownSessionError
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.share import OVER, Share, Tallies
from sandbox_mcp.play.session.state_folder import StateDir, StateError
from tests.suite import SUITE

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def server(folder: Path, **more: Any) -> KeptSessions:
    """The folder's sessions as a new server finds them."""
    return KeptSessions(SUITE, log_dir=folder, batch_window=0, **more)


def begun(manager: SessionManager, seat: str | None = None, **spec: Any) -> OpenSession:
    chosen = {"variant": "all_tools", **spec}
    scenario = manager.suite.get("wifi_off")
    return manager.create(SessionSpec(scenario, **chosen), manager.user(None, scenario), seat=seat)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_the_next_server_goes_on_under_the_same_token_and_bearer(tmp_path: Path) -> None:
    first = begun(server(tmp_path), trial=3, agent={"model": "m"})
    await first.call("set_wifi_status", {"on": False})
    again = server(tmp_path).get(first.token)
    seen = await again.call("get_wifi_status", {})
    reply = await again.say("Wifi is off.")
    assert seen.structured == {"result": False}
    assert reply.over
    assert (again.token, again.bearer) == (first.token, first.bearer)
    assert (again.session.spec.id, again.opening) == (first.session.spec.id, first.opening)
    assert (again.session.spec.trial, again.session.spec.agent) == (3, {"model": "m"})
    log = read_trajectory(tmp_path / "wifi_off-all_tools-s0-t3.jsonl")
    assert [event.seq for event in log.events] == list(range(1, len(log.events) + 1))
    assert log.ended


async def test_a_line_that_was_cut_in_half_never_happened(tmp_path: Path) -> None:
    first = begun(server(tmp_path))
    await first.call("set_wifi_status", {"on": False})
    log = first.path
    assert log
    log.write_bytes(log.read_bytes()[:-20])
    seen = await server(tmp_path).get(first.token).call("get_wifi_status", {})
    assert seen.structured == {"result": True}


async def test_a_session_that_was_closed_is_not_found_again(tmp_path: Path) -> None:
    manager = server(tmp_path)
    closed, kept = begun(manager), begun(manager)
    await manager.close(closed.token)
    later = server(tmp_path)
    assert len(later) == 1
    assert later.get(kept.token)
    with pytest.raises(UnknownSessionError):
        later.get(closed.token)


async def test_stopping_leaves_sessions_to_the_next_server_and_ends_them_where_none_is_to_come(tmp_path: Path) -> None:
    (tmp_path / "urls").mkdir()
    passing = server(tmp_path, addresses=tmp_path / "urls", lasting=False)
    begun(passing)
    begun(passing)
    stepped_in = server(tmp_path, addresses=tmp_path / "urls", lasting=False)
    await stepped_in.close_all()
    lasting = server(tmp_path)
    stays = begun(lasting)
    await lasting.close_all()
    ends = {name: read_trajectory(tmp_path / name).ended for name in files(tmp_path) if name.endswith(".jsonl")}
    assert [name for name, end in ends.items() if not end] == [stays.path and stays.path.name]
    assert len(ends) == 3
    assert not files(tmp_path / "urls")
    assert not server(tmp_path).get(stays.token).session.over


async def test_those_nobody_has_asked_for_count_and_make_room_once_they_are_over(tmp_path: Path) -> None:
    first = server(tmp_path)
    over, goes_on = begun(first), begun(first)
    await over.end("abandoned", "\x01" * 2000)  # the longest that a harness may tell, and as long as it can become
    later = server(tmp_path, max_sessions=2)
    assert len(later) == 2
    fresh = begun(later)
    with pytest.raises(TooManySessionsError):
        begun(later)
    with pytest.raises(UnknownSessionError):
        later.get(over.token)
    assert {later.get(goes_on.token).token, later.get(fresh.token).token} == {goes_on.token, fresh.token}


async def test_a_call_that_speaks_of_an_end_is_none(tmp_path: Path) -> None:
    first = begun(server(tmp_path))
    await first.call("get_wifi_status", {"event": "end"})
    with pytest.raises(TooManySessionsError):
        begun(server(tmp_path, max_sessions=1))
    tallies = Tallies(1)
    server(tmp_path, share=Share(0, tallies))
    assert tallies.of_each(OVER) == [0]
    assert not server(tmp_path).get(first.token).session.over


async def test_those_nobody_asks_for_are_closed_in_time(tmp_path: Path) -> None:
    token = begun(server(tmp_path)).token
    later = server(tmp_path, idle_seconds=-1)
    await later.reap()
    ended = read_trajectory(tmp_path / "wifi_off-all_tools-s0-t0.jsonl").ended
    assert ended
    assert ended.reason == "abandoned"
    with pytest.raises(UnknownSessionError):
        server(tmp_path).get(token)


async def test_a_seat_has_the_session_that_was_begun_at_it_last(tmp_path: Path) -> None:
    manager = server(tmp_path)
    begun(manager, "a")
    last, other = begun(manager, "a"), begun(manager, "b")
    later = server(tmp_path)
    found = {seat: opened and opened.token for seat in "abc" for opened in (later.seated(seat),)}
    assert found == {"a": last.token, "b": other.token, "c": None}


def test_secrets_lie_in_files_of_their_own_that_only_their_owner_reads(tmp_path: Path) -> None:
    opened = begun(server(tmp_path))
    secret = tmp_path / "wifi_off-all_tools-s0-t0.url"
    assert files(tmp_path) == ["wifi_off-all_tools-s0-t0.jsonl", secret.name]
    assert secret.stat().st_mode & 0o777 == 0o600
    assert opened.token not in (tmp_path / "wifi_off-all_tools-s0-t0.jsonl").read_text()


def damaged(log: Path, url: Path) -> Iterator[str]:
    log_was, url_was = log.read_text(), url.read_text()
    yield "nothing"
    log.write_text(log_was.replace('"digest":"', '"digest":"x'))
    yield "another scenario"
    log.write_text(log_was.split("\n")[0] + "\n")
    yield "no opening"
    log.write_text("".join(log_was.splitlines(keepends=True)[:3]))
    yield "half an opening"
    log.write_text("nonsense\n")
    yield "no log"
    log.write_text(log_was)
    url.write_text(url_was[:10])
    yield "half an address"
    url.write_text(json.dumps({"token": 3}))
    yield "no address"
    url.write_text("[]")
    yield "a list"


async def test_what_is_damaged_is_not_found_and_harms_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    manager = server(tmp_path)
    hurt, other = begun(manager), begun(manager)
    assert hurt.path
    for harm in damaged(hurt.path, hurt.path.with_suffix(".url")):
        caplog.clear()
        later = server(tmp_path)
        assert later.get(other.token), harm
        if harm == "nothing":
            assert later.get(hurt.token)
            continue
        with pytest.raises(UnknownSessionError):
            later.get(hurt.token)
        assert len(caplog.messages) == 1, harm
        assert hurt.token not in caplog.text


def test_an_address_whose_log_is_gone_is_forgotten(tmp_path: Path) -> None:
    opened = begun(server(tmp_path))
    assert opened.path
    opened.path.unlink()
    assert len(server(tmp_path)) == 0
    assert files(tmp_path) == []


def test_a_session_whose_address_cannot_be_kept_does_not_begin(tmp_path: Path) -> None:
    manager = server(tmp_path)
    (tmp_path / "wifi_off-all_tools-s0-t0.url.new").mkdir()
    with pytest.raises(OSError, match="directory"):
        begun(manager)
    assert files(tmp_path) == ["wifi_off-all_tools-s0-t0.url.new"]
    assert len(manager) == 0


def test_a_folder_has_one_server_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox_mcp.play.session.kept_sessions.GRACE", 0.0)
    with cared_for(tmp_path), pytest.raises(StateError, match="another server takes care"), cared_for(tmp_path):
        pass
    with pytest.raises(ConnectionError), cared_for(tmp_path):
        raise ConnectionError  # which says nothing of the folder
    with cared_for(tmp_path):
        pass


def test_a_session_served_over_http_is_not_played_over_stdio(tmp_path: Path) -> None:
    begun(server(tmp_path), session_id="mine")
    manager = SessionManager(SUITE)
    with pytest.raises(StateError, match="served over HTTP"):
        StateDir(tmp_path, manager).named("mine")


async def test_a_session_that_was_begun_over_stdio_gets_a_url(tmp_path: Path) -> None:
    spec = SessionSpec(SUITE.get("wifi_off"), "all_tools", session_id="mine")
    await StateDir(tmp_path, SessionManager(SUITE)).open(spec).call("set_wifi_status", {"on": False})
    manager = server(tmp_path)
    opened = manager.named("mine")
    assert opened
    assert manager.named("mine") is opened
    seen = await server(tmp_path).get(opened.token).call("get_wifi_status", {})
    assert seen.structured == {"result": False}
