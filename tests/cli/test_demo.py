"""The demo shows the session itself and ends with what to do next."""

from pathlib import Path

from click.testing import CliRunner

from sandbox_mcp.app.cli import group


def test_the_demo_shows_a_session_and_what_to_do_next(tmp_path: Path) -> None:
    page = tmp_path / "demo.html"
    done = CliRunner().invoke(group, ["demo", "-o", str(page)])
    assert done.exit_code == 0, done.output
    assert "agent calls send_message_with_phone_number" in done.output
    assert "score 1.000" in done.output
    assert "What to do next" in done.output
    assert page.stat().st_size
