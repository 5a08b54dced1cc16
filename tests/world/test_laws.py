"""The laws every world keeps, whatever happens in it."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.engine.world import Change, fold
from tests.world.worlds import KEY, Op, Step, ops, plain, run, start, steps, world, write


@given(steps)
def test_folding_the_changes_gives_the_state(done: list[Step]) -> None:
    target = world()
    changes = run(target, done)
    assert plain(fold(start(), changes)) == plain(target.snapshot)


@given(steps, st.integers(0, 30))
def test_folding_in_two_goes_is_folding_in_one(done: list[Step], cut: int) -> None:
    changes = run(world(), done)
    assert plain(fold(fold(start(), changes[:cut]), changes[cut:])) == plain(fold(start(), changes))


@given(steps)
def test_undoing_the_changes_backwards_leads_to_the_start(done: list[Step]) -> None:
    target = world()
    changes = run(target, done)
    back = (Change(change.table, change.key, change.after, change.before) for change in reversed(changes))
    undone = plain(fold(target.snapshot, back))
    assert {name: sorted(rows, key=lambda row: row[0]) for name, rows in undone.items()} == plain(start())


@given(steps, st.lists(ops, max_size=5))
def test_a_raise_leaves_no_trace(before: list[Step], lost: list[Op]) -> None:
    target = world()
    run(target, before)
    snapshot, clock = target.snapshot, target.clock
    run(target, [Step(lost, fails=True)])
    assert target.snapshot is snapshot
    assert target.clock == clock


@given(steps, st.lists(ops, max_size=5), st.lists(ops, max_size=5))
def test_what_failed_changes_no_id_that_comes_later(before: list[Step], lost: list[Op], after: list[Op]) -> None:
    with_failure, without = world(), world()
    run(with_failure, [*before, Step(lost, fails=True), Step(after, fails=False)])
    run(without, [*before, Step(after, fails=False)])
    assert plain(with_failure.snapshot) == plain(without.snapshot)


@given(steps, steps)
def test_a_snapshot_never_changes(before: list[Step], after: list[Step]) -> None:
    target = world()
    run(target, before)
    kept, then = target.snapshot, copy.deepcopy(plain(target.snapshot))
    run(target, after)
    assert plain(kept) == then


@given(steps)
def test_a_table_that_was_not_written_is_shared(done: list[Step]) -> None:
    target = world()
    before = target.snapshot
    changes = run(target, done)
    for name in before.tables:
        if name not in {change.table for change in changes}:
            assert target.snapshot.table(name) is before.table(name)


@given(steps)
def test_the_same_happenings_give_the_same_world(done: list[Step]) -> None:
    one, other = world(), world()
    assert run(one, done) == run(other, done)
    assert plain(one.snapshot) == plain(other.snapshot)


@given(steps, steps)
def test_a_replayed_world_goes_on_as_the_recorded_one(recorded: list[Step], after: list[Step]) -> None:
    original, replayed = world(), world()
    replayed.replay(run(original, recorded))
    assert plain(replayed.snapshot) == plain(original.snapshot)
    assert run(replayed, after) == run(original, after)


@given(st.lists(ops, max_size=8))
def test_a_transaction_sees_its_own_writes_and_nobody_else_does(done: list[Op]) -> None:
    target = world()
    tx = target.begin()
    for op in done:
        write(tx, op)
    seen = {name: {str(row[KEY]): dict(row) for row in tx.rows(name)} for name in target.snapshot.tables}
    assert plain(target.snapshot) == plain(start())
    target.commit(tx)
    assert {name: dict(rows) for name, rows in plain(target.snapshot).items()} == seen


@given(st.lists(ops, max_size=8))
def test_every_change_was_announced_as_a_write(done: list[Op]) -> None:
    tx = world().begin()
    for op in done:
        write(tx, op)
    whole = {(table, key) for table, key, column in tx.writes if column is None}
    for change in tx.changes:
        if change.before is None or change.after is None:
            assert (change.table, change.key) in whole
            continue
        for column in change.after:
            if change.after[column] != change.before[column]:
                assert (change.table, change.key, column) in tx.writes


@given(st.lists(ops, max_size=8))
def test_no_change_is_void(done: list[Op]) -> None:
    tx = world().begin()
    for op in done:
        write(tx, op)
    assert all(change.before != change.after for change in tx.changes)


def test_things_do_happen_in_these_worlds() -> None:
    target = world()
    changes = run(
        target,
        [
            Step([Op("insert", "field", 0, {"name": "a"}), Op("delete", "animal", 0, {})], fails=False),
            Step([Op("delete", "animal", 0, {})], fails=True),
        ],
    )
    assert [change.table for change in changes] == ["field", "animal"]
    assert [key for key, _ in plain(target.snapshot)["animal"]] == ["a2"]
