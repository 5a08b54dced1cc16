"""How long rows live, and which of them count in which version."""

from sandbox_grader.milestones.row_versions import Life, RowSets, lives, members

from sandbox_mcp.engine.world import Change
from tests.each import each

OLD, NEW = {"x": 1}, {"x": 2}
START = {"a": OLD}
CHANGES = [(1, Change("t", "b", None, OLD)), (2, Change("t", "a", OLD, NEW)), (3, Change("t", "a", NEW, None))]
A, B, A2 = Life("a", OLD, 0, 2), Life("b", OLD, 1, 4), Life("a", NEW, 2, 3)


def test_rows_live_until_they_are_written_again_or_removed():
    assert lives(START, CHANGES, 4) == (A, B, A2)


def test_what_is_overwritten_at_once_was_never_there():
    twice = [(1, Change("t", "b", None, OLD)), (1, Change("t", "b", OLD, NEW))]
    assert lives({}, twice, 2) == (Life("b", NEW, 1, 2),)


@each(
    ("kind", "usable", "eligible"),
    [
        ("is", [{0}, {0, 1}, {1, 2}, {1}], [{0, 1, 2}] * 4),
        ("adds", [{0}, {0, 1}, {1, 2}, {1}], [{1}, set(), set(), {0, 2}]),
        ("updates", [{0}, {0, 1}, {1, 2}, {1}], [{2}, {2}, {0}, set()]),
        ("removes", [{1}, set(), set(), {0, 2}], [{0}, {0, 1}, {1, 2}, {1}]),
    ],
)
def test_which_rows_count_now_and_by_the_reference(kind, usable, eligible):
    sets = RowSets(kind, (A, B, A2), (A, B, A2), 4)
    assert [set(members(bits)) for bits in sets.usable] == usable
    assert [set(members(bits)) for bits in sets.eligible] == eligible


def test_rows_that_are_not_in_question_still_hide_an_id():
    sets = RowSets("adds", (A2,), (A, B, A2), 4)
    assert [set(members(bits)) for bits in sets.eligible] == [set(), set(), set(), {0}]
