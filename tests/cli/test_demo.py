"""The demo shows the session itself and ends with what to do next."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sandbox_mcp.app.cli import group


def test_the_demo_shows_a_session_and_what_to_do_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "demo.html"
    done = CliRunner().invoke(group, ["demo", "-o", str(page)])
    assert done.exit_code == 0, done.output
    assert "agent calls send_message_with_phone_number" in done.output
    assert "score 1.000" in done.output
    assert "What to do next" in done.output
    assert f"first: . {Path(sys.executable).with_name('activate')}" in done.output
    assert page.stat().st_size
