"""Random sessions for property tests: a dozen steps of an agent that does this and that."""

from typing import Any

from hypothesis import strategies as st

from tests.grader.milestones.sessions import Play, contact, reminder, text

Steps = list[tuple[str, Any]]


def steps(most: int = 12) -> st.SearchStrategy[Steps]:
    return st.lists(
        st.one_of(
            st.tuples(st.just("says"), st.sampled_from(["hi", "hi, done", "no", "+1", "never say this"])),
            st.tuples(st.just("search"), st.sampled_from(["Ann", "Bob"])),
            st.tuples(st.just("send"), st.sampled_from(["+1", "+2"])),
            st.tuples(st.just("edit"), st.sampled_from(["+9", "+8"])),
            st.tuples(st.just("add"), st.sampled_from(["milk", "bread", "milk and bread"])),
            st.tuples(st.just("rm"), st.sampled_from(["r1", "c1"])),
            st.tuples(st.just("wifi"), st.sampled_from([True, False])),
        ),
        max_size=most,
    )


def play(todo: Steps) -> Play:
    played = Play()
    for number, (step, value) in enumerate(todo):
        if step == "says":
            played.says(value)
        elif step == "search":
            played.calls("search", name=value, result=[{"phone": "+1" if value == "Ann" else "+2"}])
        elif step == "send":
            played.changes("send", "messaging", f"m{number}", text(f"m{number}", to=value), to=value)
        elif step == "edit":
            played.changes("edit", "contact", "c2", contact("c2", "Bob", value))
        elif step == "add":
            played.changes("add", "reminder", f"n{number}", reminder(f"n{number}", value))
        elif step == "rm":
            played.changes("rm", "reminder" if value == "r1" else "contact", value, None)
        else:
            played.sets(wifi=value)
    return played
