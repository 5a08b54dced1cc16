"""What stands before every route: names, lengths, tokens."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from sandbox_mcp.play.server.guard import Guard, bearer_in, host_of, is_one_of, problem
from sandbox_mcp.play.server.settings import LOOPBACK, ServerError, ServerSettings, check_exposed, new_token
from tests.each import each

names = st.text(string.ascii_lowercase + string.digits + "-.", min_size=1, max_size=20)


def scope(**headers: str) -> Scope:
    return {
        "type": "http",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
    }


async def answered(asked: Scope, **settings: object) -> int | None:
    """The status of the guard's refusal; None where the request got through."""
    sent: list[Message] = []
    passed: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        passed.append(scope)

    async def receive() -> Message:
        raise AssertionError("the guard decides by the headers alone")

    async def send(message: Message) -> None:
        sent.append(message)

    await Guard(app, ServerSettings(**settings))(asked, receive, send)  # pyright: ignore[reportArgumentType]
    assert len(passed) + bool(sent) == 1
    return sent[0]["status"] if sent else None


@each(
    ("authority", "host"),
    [
        ("localhost", "localhost"),
        ("LocalHost:80", "localhost"),
        ("127.0.0.1:8930", "127.0.0.1"),
        ("[::1]:8930", "::1"),
        ("[::1]", "::1"),
        ("::1", "::1"),
        ("", ""),
        (":80", ""),
        ("evil.example:80@localhost", ""),
        ("localhost:80@evil.example", ""),
        ("[::1].evil.com:80", ""),
        ("[::1]evil.com", ""),
        ("[::1", ""),
        ("localhost:", ""),
        ("localhost:80:80", "localhost:80:80"),
        ("localhost,evil.com", ""),
        ("localhost/x", ""),
    ],
)
def test_the_host_is_found_in_an_authority(authority: str, host: str) -> None:
    assert host_of(authority) == host


@given(names, st.integers(1, 65535))
def test_a_port_does_not_change_the_host(name: str, port: int) -> None:
    assert host_of(name) == host_of(f"{name}:{port}") == name


@pytest.mark.anyio
@each("host", [*LOOPBACK[:2], "[::1]", "127.0.0.1:1", "LOCALHOST:99"])
async def test_loopback_gets_through(host: str) -> None:
    assert await answered(scope(host=host)) is None
    assert await answered(scope(host=host, origin=f"http://{host}")) is None


@pytest.mark.anyio
@each("host", ["evil.example", "localhost.evil.example", "evil.example:127.0.0.1", "127.0.0.1.nip.io", "0.0.0.0", ""])
async def test_other_hosts_do_not(host: str) -> None:
    assert await answered(scope(host=host)) == 421


@pytest.mark.anyio
async def test_a_request_without_a_host_does_not_get_through() -> None:
    assert await answered({"type": "http", "headers": []}) == 421


@pytest.mark.anyio
@given(st.sampled_from(LOOPBACK), st.text("[]:.@/?#, abc019", max_size=12), st.text("[]:.@/?#, abc019", max_size=12))
async def test_only_a_port_may_stand_beside_a_known_host(known: str, before: str, behind: str) -> None:
    """Whatever is put around a known name makes another name of it, or nonsense."""
    host = f"{before}{known}{behind}"
    harmless = host in LOOPBACK or (host_of(host) == known and host.partition(known)[2].strip("]:0123456789") == "")
    assert harmless or await answered(scope(host=host)) == 421


@pytest.mark.anyio
@each("name", ["host", "origin"])
async def test_a_name_given_twice_does_not_get_through(name: str) -> None:
    asked = scope(host="localhost", origin="http://localhost")
    twice = {**asked, "headers": [*asked["headers"], *(item for item in asked["headers"] if item[0] == name.encode())]}
    assert await answered(twice) == (421 if name == "host" else 403)


@pytest.mark.anyio
@each(
    "origin",
    ["http://evil.example", "null", "", "localhost", "file://", "http://localhost.x", "http://[::1]x", "x://localhost",
     "http://localhost/", "http://localhost http://evil.example"],
)  # fmt: skip
async def test_a_page_from_elsewhere_does_not_get_through(origin: str) -> None:
    assert await answered(scope(host="localhost", origin=origin)) == 403


@pytest.mark.anyio
async def test_an_allowed_host_is_allowed_as_origin_too() -> None:
    asked = scope(host="sandbox.example:443", origin="https://sandbox.example")
    assert await answered(asked, hosts=("Sandbox.Example",)) is None
    assert await answered(asked) == 421


@pytest.mark.anyio
@each(("length", "status"), [("10", None), ("11", 413), ("99999999999999", 413), ("-1", None), ("x", None)])
async def test_a_body_that_says_it_is_too_long_is_refused(length: str, status: int | None) -> None:
    """One that says nothing sensible is measured when it is read."""
    assert await answered(scope(host="localhost", content_length=length), max_body=10) == status


@pytest.mark.anyio
async def test_what_is_no_request_passes() -> None:
    assert await answered({"type": "lifespan"}) is None


@each(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer abc ", "abc"),
        ("Bearer", None),
        ("Bearer ", None),
        ("Basic abc", None),
        ("", None),
    ],
)
def test_a_bearer_is_found(header: str, token: str | None) -> None:
    assert bearer_in(scope(authorization=header)) == token


def test_without_a_header_there_is_no_bearer() -> None:
    assert bearer_in(scope()) is None


@given(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=4))
def test_a_token_is_accepted_if_it_is_one_of_them(token: str, accepted: list[str]) -> None:
    assert is_one_of(token, accepted) == (token in accepted)


def test_no_token_is_none_of_them() -> None:
    assert not is_one_of(None, ["a", "b"])


def test_a_problem_says_what_is_asked_for() -> None:
    assert problem(401, "c", "m").headers["www-authenticate"] == "Bearer"
    assert "www-authenticate" not in problem(404, "c", "m").headers
    assert problem(404, "c", "m").body == b'{"error":{"code":"c","message":"m"}}'


def test_tokens_are_long_and_new_each_time() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) == 32 for token in tokens)
    assert ServerSettings().api_token != ServerSettings().api_token


@each("host", LOOPBACK)
def test_loopback_needs_no_protection(host: str) -> None:
    check_exposed(host, ServerSettings())


@each(
    ("settings", "missing"),
    [
        ({}, "--allowed-host and --token"),
        ({"hosts": ("x",)}, "--token"),
        ({"lobby_tokens": ("t",)}, "--allowed-host"),
    ],
)
@each("host", ["0.0.0.0", "::", "192.168.1.2", "example.org", ""])
def test_anything_else_does(host: str, settings: dict[str, tuple[str, ...]], missing: str) -> None:
    with pytest.raises(ServerError, match=f"that needs {missing}$"):
        check_exposed(host, ServerSettings(**settings))  # pyright: ignore[reportArgumentType]
    check_exposed(host, ServerSettings(hosts=("x",), lobby_tokens=("t",)))


@each("tokens", [("",), ("a", "")])
def test_an_empty_token_is_none(tokens: tuple[str, ...]) -> None:
    with pytest.raises(ServerError, match="must not be empty"):
        ServerSettings(lobby_tokens=tokens)


def test_agents_and_harnesses_never_share_a_token() -> None:
    with pytest.raises(ServerError, match="must differ"):
        ServerSettings(api_token="same", lobby_tokens=("same",))


@pytest.mark.anyio
async def test_a_request_with_two_ends_is_refused() -> None:
    asked = {"host": "localhost", "content_length": "5", "transfer_encoding": "chunked"}
    assert await answered(scope(**asked)) == 400
    del asked["content_length"]
    assert await answered(scope(**asked)) is None
