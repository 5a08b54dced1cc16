"""Nouns agree with how many there are."""

from sandbox_mcp.engine.plurals import counted
from tests.each import each


@each(
    ("number", "text"),
    [(0, "0 sessions"), (1, "1 session"), (2, "2 sessions"), (1200, "1,200 sessions"), (0.3, "0.3 sessions")],
)
def test_a_noun_follows_its_number(number: float, text: str) -> None:
    assert counted(number, "session") == text


def test_a_noun_may_have_words_before_it() -> None:
    assert counted(1, "scored session") == "1 scored session"


def test_a_whole_number_of_seconds_may_be_a_float() -> None:
    assert counted(1.0, "second") == "1 second"
