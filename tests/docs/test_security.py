"""What SECURITY.md promises in numbers, held against the defaults that keep it."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from sandbox_grader.importers.reading import eval_archive
from sandbox_scenarios import yaml_lines

from sandbox_mcp.play.server import connections, malformed
from sandbox_mcp.play.server.patience import Patience
from sandbox_mcp.play.server.settings import MAX_BODY, ServerError, ServerSettings, check_exposed, new_token
from sandbox_mcp.play.users.base import LONGEST_READ
from tests.each import each

PAGE = " ".join((Path(__file__).resolve().parents[2] / "SECURITY.md").read_text(encoding="utf-8").split())
DEFAULT = {field.name: field.default for field in fields(Patience)}


@each(
    "promised",
    [
        f"at most {MAX_BODY // 2**20} MiB and {malformed.MOST_NAMES:,} named values",
        f"a head {DEFAULT['head']:.0f} seconds and a body {DEFAULT['body']:.0f}",
        f"a session keeps {connections.MOST} connections",
        f"what a user reads of a message is {LONGEST_READ:,} characters",
        f"unfold to at most {yaml_lines.MOST_NODES:,} values",
        f"unpacks to at most {eval_archive.MOST // 1_000_000} MB a sample",
        f"its token has {len(new_token()) * 6} random bits",
    ],
)
def test_numbers_are_those_of_the_code(promised: str) -> None:
    assert promised in PAGE


@each("path", re.findall(r"`(/[^`]*)`", PAGE))
def test_every_path_it_names_is_one_that_the_server_has(path: str) -> None:
    assert path in ("/s/TOKEN/mcp", "/mcp", "/api/...", "/metrics", "/openapi.json", "/healthz")


@each("settings", [ServerSettings(), ServerSettings(hosts=("a",)), ServerSettings(lobby_tokens=("b",))])
def test_beyond_loopback_nothing_is_served_without_hosts_and_tokens(settings: ServerSettings) -> None:
    check_exposed("127.0.0.1", settings)
    with pytest.raises(ServerError, match="lets other machines in"):
        check_exposed("0.0.0.0", settings)
