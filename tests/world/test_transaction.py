"""Transactions: what they see, write and announce, by example."""

from contextlib import suppress

import pytest

from sandbox_mcp.engine.world import Change, Running, fold, freeze, snapshot_of
from sandbox_mcp.engine.world.tx import Tx
from tests.each import each
from tests.world.worlds import KEY, Failure, plain, start, world


def rex(target: Running) -> dict[str, object]:
    return dict(target.snapshot.table("animal")["a1"])


class TestWriting:
    def test_an_insert_gets_an_id_first_and_goes_to_the_end(self) -> None:
        target = world()
        with target.transaction() as tx:
            key = tx.insert("animal", KEY, {"name": "Ada", "age": 1})
        assert list(target.snapshot.table("animal")) == ["a1", "a2", key]
        assert list(target.snapshot.table("animal")[key].items()) == [(KEY, key), ("name", "Ada"), ("age", 1)]

    def test_an_update_sets_columns_and_keeps_the_place(self) -> None:
        target = world()
        with target.transaction() as tx:
            tx.update("animal", "a1", {"age": 4})
        assert rex(target) == {KEY: "a1", "name": "Rex", "age": 4}
        assert list(target.snapshot.table("animal")) == ["a1", "a2"]

    def test_writing_what_is_there_is_no_change_but_a_write(self) -> None:
        tx = world().begin()
        tx.update("animal", "a1", {"age": 3})
        assert tx.changes == []
        assert tx.writes == {("animal", "a1", "age")}

    def test_a_delete_takes_the_row_away(self) -> None:
        target = world()
        with target.transaction() as tx:
            tx.delete("animal", "a1")
        assert list(target.snapshot.table("animal")) == ["a2"]

    def test_a_change_tells_the_row_before_and_after(self) -> None:
        target = world()
        with target.transaction() as tx:
            tx.update("animal", "a1", {"age": 4})
            tx.delete("animal", "a2")
        update, delete = tx.changes
        assert update == Change(
            "animal", "a1", {KEY: "a1", "name": "Rex", "age": 3}, {KEY: "a1", "name": "Rex", "age": 4}
        )
        assert (delete.before, delete.after) == ({KEY: "a2", "name": None, "age": None}, None)

    def test_several_writes_to_a_row_are_several_changes(self) -> None:
        target = world()
        with target.transaction() as tx:
            tx.update("animal", "a1", {"age": 4})
            tx.update("animal", "a1", {"age": 5})
        assert [change.after and change.after["age"] for change in tx.changes] == [4, 5]

    @each("act", ["update", "delete", "cell"])
    def test_a_row_that_is_not_there_is_a_bug_of_the_caller(self, act: str) -> None:
        tx = world().begin()
        with pytest.raises(KeyError):
            {
                "update": lambda: tx.update("animal", "zz", {"age": 1}),
                "delete": lambda: tx.delete("animal", "zz"),
                "cell": lambda: tx.cell("animal", "zz", "age"),
            }[act]()


class TestReading:
    def test_scanning_a_table_is_announced_as_the_whole_table(self) -> None:
        tx = world().begin()
        assert [row[KEY] for row in tx.rows("animal")] == ["a1", "a2"]
        assert tx.reads == {("animal", None, None)}

    def test_a_row_is_announced_as_a_row_even_where_there_is_none(self) -> None:
        tx = world().begin()
        assert tx.row("animal", "zz") is None
        assert tx.reads == {("animal", "zz", None)}

    def test_a_cell_is_announced_as_a_cell(self) -> None:
        tx = world().begin()
        assert tx.cell("animal", "a1", "name") == "Rex"
        assert tx.reads == {("animal", "a1", "name")}

    def test_a_table_the_world_does_not_have_is_empty(self) -> None:
        assert world().begin().rows("plant") == []

    def test_time_is_the_worlds(self) -> None:
        assert Tx(world(now=5.0).begin()).now == 5.0


class TestCommitting:
    def test_an_exception_drops_everything_and_goes_on(self) -> None:
        target = world()
        with suppress(Failure), target.transaction() as tx:
            tx.delete("animal", "a1")
            raise Failure
        assert plain(target.snapshot) == plain(start())

    def test_a_transaction_that_nobody_commits_is_as_if_it_had_never_been(self) -> None:
        target = world()
        target.begin().insert("animal", KEY, {"name": "lost", "age": 0})
        with target.transaction() as tx:
            key = tx.insert("animal", KEY, {"name": "kept", "age": 0})
        assert key == target.ids.id("animal", 0)

    def test_of_two_at_the_same_time_the_second_is_refused(self) -> None:
        target = world()
        first, second = target.begin(), target.begin()
        first.update("animal", "a1", {"age": 4})
        second.update("animal", "a1", {"age": 5})
        target.commit(first)
        with pytest.raises(RuntimeError, match="the world has moved on"):
            target.commit(second)
        assert rex(target)["age"] == 4

    def test_a_commit_says_what_changed(self) -> None:
        target = world()
        tx = target.begin()
        tx.delete("animal", "a1")
        assert [change.key for change in target.commit(tx)] == ["a1"]

    def test_nothing_written_is_the_same_snapshot(self) -> None:
        target = world()
        before = target.snapshot
        target.commit(target.begin())
        assert target.snapshot is before


class TestState:
    def test_a_row_cannot_be_edited(self) -> None:
        row = world().snapshot.table("animal")["a1"]
        with pytest.raises(TypeError):
            row["age"] = 9

    def test_a_frozen_row_does_not_follow_what_it_was_made_of(self) -> None:
        source: dict[str, object] = {"age": 1}
        row = freeze(source)
        source["age"] = 2
        assert row["age"] == 1

    def test_a_snapshot_does_not_follow_what_it_was_made_of(self) -> None:
        rows = {"a": {"n": 1}}
        snapshot = snapshot_of({"t": rows})
        rows["b"] = {"n": 2}
        rows["a"]["n"] = 9
        assert plain(snapshot) == {"t": [("a", {"n": 1})]}

    def test_folding_nothing_is_the_same_snapshot(self) -> None:
        snapshot = start()
        assert fold(snapshot, ()) is snapshot

    def test_folding_a_table_the_snapshot_lacks_adds_it(self) -> None:
        folded = fold(start(), [Change("plant", "p", None, freeze({"id": "p"}))])
        assert plain(folded)["plant"] == [("p", {"id": "p"})]
