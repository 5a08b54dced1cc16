"""The shortcuts of both evaluators against the rule itself: every assignment, nothing merged, no ceiling trusted."""

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from sandbox_grader.milestones.case import LO, MESSAGES
from sandbox_grader.milestones.compat import DEAD, CompatNodes
from sandbox_grader.milestones.history import History
from sandbox_grader.milestones.links import CALL, Links
from sandbox_grader.milestones.matching import MatchedPlace, match
from sandbox_grader.milestones.strict_nodes import StrictNodes
from sandbox_grader.milestones.timeline import Timeline
from sandbox_grader.milestones.translate import to_case
from sandbox_scenarios.model import Expected, Milestone, ValueRef

from sandbox_mcp.engine.trajectory import ToolCall
from tests.grader.milestones.plays import Steps, play, steps
from tests.grader.milestones.sessions import Play, call, facts, milestone, row, say, scenario, state, text
from tests.laws import at_least

Placed = Mapping[int, MatchedPlace]
At = Callable[[int, int, Placed], float]
FOUND = ValueRef("found", path=(0, "phone"))
TRIOS: Mapping[str, tuple[Milestone, ...]] = {
    "values": (
        milestone("found", call("search", name=Expected("any"))),
        milestone(
            "sent", state("messaging", "adds", row(recipient_phone_number=Expected(ref=FOUND))), after=("found",)
        ),
        milestone("told", say(facts(("{p}",), ("hi",), p=FOUND)), after=("found", "sent")),
    ),
    "states": (
        milestone("off", state("setting", "is", row(wifi=False)), transient=True),
        milestone("added", state("reminder", "adds", row(content="milk"), since="off"), after=("off",)),
        milestone("gone", state("reminder", "removes", row(content="milk"), since="added"), after=("added",)),
    ),
    "edits": (
        milestone("said", say("hi")),
        milestone("moved", state("contact", "updates", row(phone_number="+9"), since="said"), after=("said",)),
        milestone("two", state("reminder", "adds", row(content="milk"), row(content="bread")), after=("said",)),
    ),
    "quiet": (
        milestone("used", call("send", to="+1")),
        milestone(
            "quiet", state("contact", "unchanged", since="used"), say(facts(("hi",), ("done",))), after=("used",)
        ),
        milestone("over", say("no"), after=("quiet",)),
    ),
}


def best(
    at: At, nodes: Sequence[int], edges: Sequence[tuple[int, int]], length: int, placed: Placed, last: int
) -> tuple[float, Placed]:
    """Every assignment in the order in which ToolSandbox tries them; a later one wins only if it is strictly better."""
    free = [n for n in nodes if n not in placed and all(first in placed for first, second in edges if second == n)]
    if not free:
        return 0.0, placed
    options = sorted((-at(n, index, placed), n, index) for n in free for index in range(last, length))
    options.sort(key=lambda option: (round(option[0], 9), *option[1:]))
    top: tuple[float, Placed] = (-1.0, placed)
    for minus, node, index in options:
        total, found = best(at, nodes, edges, length, {**placed, node: MatchedPlace(index, -minus)}, index)
        if total - minus > top[0] + 1e-9:
            top = (total - minus, found)
    return top


def strictly(nodes: StrictNodes) -> At:
    """Similarities with the very versions and calls of the places, not with their representatives."""

    def slot(number: int, aspect: str, placed: Placed) -> int:
        index = placed[number].index
        if aspect != CALL:
            return nodes.timeline.versions(aspect)[index]
        met = nodes.raw(number, slots(number, placed))[index]
        return index if met and isinstance(nodes.timeline.events[index], ToolCall) else -1

    def slots(node: int, placed: Placed) -> tuple[int, ...]:
        return tuple(slot(number, aspect, placed) for number, aspect in nodes.aspects[node])

    def at(node: int, index: int, placed: Placed) -> float:
        rests = [placed[before].similarity for before in nodes.before[node]] if nodes.resting[node] else []
        return nodes.raw(node, slots(node, placed))[index] * min(rests, default=1.0)

    return at


@pytest.mark.parametrize("name", list(TRIOS))
@settings(max_examples=at_least(25), deadline=None)
@given(todo=steps(7))
def test_strict_finds_what_trying_everything_finds(name: str, todo: Steps):
    nodes = StrictNodes(Links(TRIOS[name]), Timeline(play(todo).done()))
    members = range(len(TRIOS[name]))
    total, expected = best(strictly(nodes), members, nodes.links.edges, nodes.length, {}, 0)
    found = match(nodes, members, nodes.links.edges)
    assert sum(place.similarity for place in found.values()) == pytest.approx(total, abs=1e-9)
    assert {n: place.index for n, place in found.items()} == {n: place.index for n, place in expected.items()}


@pytest.mark.parametrize("name", list(TRIOS))
@settings(max_examples=at_least(20), deadline=None)
@given(todo=steps())
def test_strict_ceilings_are_never_exceeded(name: str, todo: Steps):
    nodes = StrictNodes(Links(TRIOS[name]), Timeline(play(todo).done()))
    at = strictly(nodes)
    for first in range(nodes.length):
        for second in range(first, nodes.length):
            placed = {0: MatchedPlace(first, at(0, first, {}))}
            placed[1] = MatchedPlace(second, at(1, second, placed))
            for node in range(3):
                high = nodes.ceiling(node)
                assert all(at(node, index, placed) <= high[index] + 1e-9 for index in range(nodes.length))


def as_the_original(nodes: CompatNodes) -> At:
    """Similarities from the constraints and guardrails themselves."""

    def version(table: str, reference: int, placed: Placed) -> int:
        return nodes.history.versions[table][0 if reference == LO else placed[reference].index]

    def at(node: int, index: int, placed: Placed) -> float:
        rules, versions = nodes.rules[node], nodes.history.versions
        value = 1.0
        for reference, tables in rules.guards.items():
            for table in tables:
                value *= versions[table][index] == version(table, reference, placed)
        for judge in (*rules.alone, *rules.referring):
            reference = LO if judge.reference is None else judge.reference
            value *= judge.value(versions[judge.table][index], version(judge.table, reference, placed))
        return value**rules.root

    return at


def compat_nodes(name: str, played: Play) -> tuple[CompatNodes, Sequence[tuple[int, int]]]:
    case = to_case(scenario(*TRIOS[name]), played.done()).case
    members, edges = case.milestones.order()
    return CompatNodes(case.milestones, members, edges, History(case)), edges


@pytest.mark.parametrize("name", list(TRIOS))
@settings(max_examples=at_least(20), deadline=None)
@given(todo=steps(4))
def test_compat_finds_what_trying_everything_finds(name: str, todo: Steps):
    nodes, edges = compat_nodes(name, play(todo))
    total, expected = best(as_the_original(nodes), range(3), edges, nodes.length, {}, 0)
    found = match(nodes, range(3), edges)
    assert sum(place.similarity for place in found.values()) == pytest.approx(total, abs=1e-9)
    assert {n: place.index for n, place in found.items()} == {n: place.index for n, place in expected.items()}


@pytest.mark.parametrize("eager", [0, 24])
@pytest.mark.parametrize("name", list(TRIOS))
@settings(max_examples=at_least(12), deadline=None)
@given(todo=steps())
def test_compat_ceilings_are_never_exceeded(name: str, eager: int, todo: Steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sandbox_grader.milestones.compat_judge.EAGER", eager)
        nodes, _ = compat_nodes(name, play(todo))
        at = as_the_original(nodes)
        highest = {node: nodes.ceiling(node) for node in range(3)}
        for first in range(nodes.length):
            placed = {0: MatchedPlace(first, 0), 1: MatchedPlace(nodes.length - 1, 0)}
            for node, high in highest.items():
                assert all(at(node, index, placed) <= high[index] + 1e-9 for index in range(nodes.length))


class TestMarks:
    def test_calls_that_yield_the_same_are_one(self):
        played = Play().calls("search", name="Ann", result=[{"phone": "+1", "at": 1}])
        played.calls("search", name="Ann", result=[{"phone": "+1", "at": 2}])
        played.changes("send", "messaging", "m", text("m", to="+1"))
        nodes = StrictNodes(Links(TRIOS["values"]), Timeline(played.done()))
        marks = nodes.marks(0, nodes.start(0))
        assert marks is not None
        assert marks[1] == marks[2] != marks[0]

    def test_a_call_that_yields_what_nobody_could_use_is_none(self):
        played = Play().calls("search", name="Ann", result=[{"phone": "+1"}])
        played.changes("send", "messaging", "m", text("m", to="+2"))
        nodes = StrictNodes(Links(TRIOS["values"][:2]), Timeline(played.done()))
        assert nodes.marks(0, nodes.start(0)) == [(-1,)] * 3
        assert nodes.slots(1, {0: MatchedPlace(1, 1.0)}) == (1,)  # reports still name the call

    def test_states_that_nobody_can_tell_apart_are_one(self):
        played = (
            Play()
            .changes("add", "reminder", "x", {"content": "zzz"})
            .changes("add", "reminder", "y", {"content": "milk"})
        )
        nodes = StrictNodes(Links(TRIOS["states"]), Timeline(played.done()))
        marks = nodes.marks(0, nodes.start(0))
        assert marks is not None
        assert marks[0] == marks[1] != marks[2]

    def test_nobody_refers_to_the_last_one(self):
        nodes = StrictNodes(Links(TRIOS["states"]), Timeline(Play().done()))
        assert nodes.marks(2, nodes.start(2)) is None

    def test_a_place_from_which_a_follower_could_never_be_met_is_dead(self):
        nodes, _ = compat_nodes("values", Play().says("nothing of the kind"))
        marks = nodes.marks(0, nodes.start(0))
        assert marks is not None
        assert {entry for mark in marks for entry in mark} == {DEAD}

    def test_a_contradiction_between_guardrails_is_dead(self):
        nodes, _ = compat_nodes("values", Play().calls("search", name="Ann", result=[{"phone": "+1"}]))
        assert nodes.absorb(1, DEAD, 0, nodes.marks(0, nodes.start(0))[0], 1.0) == DEAD  # pyright: ignore[reportOptionalSubscript]
        assert set(nodes.series(1, DEAD)) == {0.0}


class TestHistory:
    def test_a_state_that_comes_back_has_its_old_number(self):
        old = Play().rows["contact"]["c2"]
        played = Play().changes("edit", "contact", "c2", {**old, "name": "X"}).changes("edit", "contact", "c2", old)
        history = History(to_case(scenario(), played.done()).case)
        assert history.versions["contact"] == [0, 0, 1, 1, 0]
        assert history.versions["reminder"] == [0] * 5

    def test_messages_are_their_own_versions(self):
        history = History(to_case(scenario(), Play().says("a").done()).case)
        assert history.versions[MESSAGES] == [0, 1]
        assert [message["content"] for message in history.messages][1] == "a"

    def test_empty_cells_are_filled_by_type(self):
        start = Play().changes("add", "reminder", "x", {"reminder_id": "x", "content": None, "latitude": None})
        history = History(to_case(scenario(), start.done()).case)
        filled = [history.filled_row(number) for number in history.filled("reminder", 1)]
        assert filled[-1]["content"] == ""
        assert filled[-1]["latitude"] == 0.0

    def test_repeated_rows_are_known(self):
        row_ = {"reminder_id": "x"}
        played = Play().changes("add", "reminder", "x", row_).changes("add", "reminder", "y", row_)
        history = History(to_case(scenario(), played.done()).case)
        assert [history.unique("reminder", version) for version in range(3)] == [True, True, False]
        assert history.sizes("reminder") == {1: [0], 2: [1], 3: [2], None: [2]}
