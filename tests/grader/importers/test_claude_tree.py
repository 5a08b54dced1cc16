"""Laws of the forest in a Claude Code session file: no line is lost, none counts twice, whatever points where."""

from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.importers.reading.claude_tree import lines_of, threads_of
from sandbox_grader.importers.reading.json_values import JsonNode

from tests.grader.importers.samples import claude_line, claude_result, claude_use
from tests.laws import at_least

LAW = settings(max_examples=at_least(30), deadline=None)
uuids = st.sampled_from([f"u{number}" for number in range(8)])
parents = st.none() | uuids | st.just("gone")


@st.composite
def files(draw):
    """Lines of any kind whose parents may be missing, later in the file, themselves, or in a circle."""
    lines = []
    for uuid in draw(st.permutations([f"u{number}" for number in range(8)]))[: draw(st.integers(0, 8))]:
        parent, side = draw(parents), draw(st.booleans())
        kind = draw(st.sampled_from(["say", "call", "result", "other"]))
        more = {"isSidechain": side}
        if kind == "say":
            lines.append(claude_line(uuid, parent, "user", "x", **more))
        elif kind == "call":
            message = {"id": draw(st.sampled_from(["m1", "m2", "m3"]))}
            lines.append(claude_line(uuid, parent, "assistant", claude_use(uuid, "f"), message=message, **more))
        elif kind == "result":
            lines.append(claude_line(uuid, parent, "user", claude_result(draw(uuids), "1"), **more))
        else:
            lines.append({"type": "progress", "uuid": uuid, "parentUuid": parent, **more})
    return [JsonNode(line, "f", number) for number, line in enumerate(lines, start=1)]


def forest(nodes):
    lines = list(lines_of(nodes, []))
    return lines, threads_of(lines)


@LAW
@given(files())
def test_every_message_is_in_one_conversation_or_on_an_abandoned_branch_of_one(nodes):
    lines, threads = forest(nodes)
    kept = [line.uuid for thread in threads for line in thread.lines if line.talks]
    abandoned = [line.uuid for thread in threads for line in thread.abandoned]
    assert sorted(kept + abandoned) == sorted(line.uuid for line in lines if line.talks)


@LAW
@given(files())
def test_the_last_message_of_a_conversation_is_never_abandoned(nodes):
    for thread in forest(nodes)[1]:
        talking = [line for line in (*thread.lines, *thread.abandoned) if line.talks]
        assert max(talking, key=lambda line: line.index) in thread.lines


@LAW
@given(files())
def test_lines_keep_the_order_of_the_file(nodes):
    for thread in forest(nodes)[1]:
        indices = [line.index for line in thread.lines]
        assert indices == sorted(indices)


@LAW
@given(files())
def test_lines_of_one_api_message_stay_together(nodes):
    for thread in forest(nodes)[1]:
        kept = {line.message_id for line in thread.lines} - {None}
        assert not kept & {line.message_id for line in thread.abandoned}


@LAW
@given(files())
def test_a_sub_agent_never_shares_a_conversation_with_the_main_one(nodes):
    for thread in forest(nodes)[1]:
        assert {line.sidechain for line in thread.lines} == {thread.sidechain}


@LAW
@given(files())
def test_only_lines_whose_parent_is_missing_are_orphans(nodes):
    lines, threads = forest(nodes)
    known = {line.uuid for line in lines}
    for thread in threads:
        assert all(line.parent is not None and line.parent not in known for line in thread.orphans)


@LAW
@given(st.integers(1, 30))
def test_a_chain_is_one_conversation_without_branches(length):
    nodes = [
        JsonNode(claude_line(str(number), str(number - 1) if number else None, "user", "x"), "f", number)
        for number in range(length)
    ]
    [thread] = forest(nodes)[1]
    assert len(thread.lines) == length
    assert thread.abandoned == thread.orphans == ()
