"""Material for fine-tuning: what goes in, in two forms, and what stays out."""

from sandbox_grader.exporters.training import FORMS, chat, mtu_instruct, preferences, unfit

from sandbox_mcp.engine.trajectory import CallError
from tests.each import each
from tests.grader.exporters.sessions import call, message, note, session

FAILED = CallError(kind="execution", type="ValueError", message="no such flight")
WHOLE = (
    message("system", "user", "You want to fly."),
    message("user", "agent", "Where is X1?"),
    note("I look.", "reasoning"),
    note("Looking."),
    call("x7", {"number": "X1"}, result={"gate": 4}),
    call("x7", {"number": "X2"}, call="second", error=FAILED),
    message("agent", "user", "Gate 4."),
    message("user", "agent", "Thanks."),
)


def test_chat_has_only_what_trainers_know() -> None:
    document = chat(session(*WHOLE))
    assert [item["role"] for item in document["messages"]] == ["user", "assistant", "tool", "tool", "assistant", "user"]
    asked, failed = document["messages"][1], document["messages"][3]
    assert failed == {"role": "tool", "tool_call_id": asked["tool_calls"][1]["id"], "content": "no such flight"}
    assert document["tools"][0]["function"]["name"] == "x7"
    assert set(document) == {"messages", "tools"}


def test_mtu_instruct_has_thought_action_input_and_observation() -> None:
    first, second = mtu_instruct(session(*WHOLE))["turns"]
    assert first["steps"] == [
        {
            "thought": "I look.\nLooking.",
            "action": "x7",
            "action_input": {"number": "X1"},
            "observation": '{"gate": 4}',
        },
        {"thought": "", "action": "x7", "action_input": {"number": "X2"}, "observation": "no such flight"},
    ]
    assert (first["user"], first["reply"]) == ("Where is X1?", "Gate 4.")
    assert second == {"user": "Thanks.", "steps": [], "thought": "", "reply": ""}


@each("form", sorted(FORMS))
def test_what_the_agent_never_saw_stays_out(form: str) -> None:
    assert "You want to fly" not in str(FORMS[form](session(*WHOLE)))


@each(
    ("events", "why"),
    [
        (WHOLE, None),
        ((message("user", "agent", "Hm."),), "the agent says nothing"),
        ((*WHOLE, call("x7", call="open", meta={"result_missing": True})), "the result of a call is missing"),
        ((*WHOLE, call("x7", call="raw", raw_arguments="{broken")), "arguments of a call are no JSON object"),
    ],
)
def test_nothing_is_learnt_from_a_session_that_is_not_whole(events: tuple, why: str | None) -> None:
    assert unfit(session(*events)) == why


WORSE = (*WHOLE[:6], message("agent", "user", "I do not know."))


def test_the_prompt_of_a_pair_is_all_that_both_began_with() -> None:
    (pair,) = preferences([(session(*WORSE), 0.25), (session(*WHOLE), 1.0)], 0.5)
    assert [item["role"] for item in pair["prompt"]] == ["user", "assistant", "tool", "tool"]
    assert (pair["chosen"][0]["content"], pair["rejected"][0]["content"]) == ("Gate 4.", "I do not know.")
    assert pair["scores"] == {"chosen": 1.0, "rejected": 0.25}
    assert pair["tools"] == chat(session(*WHOLE))["tools"]


@each(
    ("other", "score"),
    [(WORSE, 0.6), (WHOLE, 0.0), (WHOLE[:-2], 0.0), ((message("user", "agent", "Which gate?"), *WORSE[2:]), 0.0)],
)
def test_no_pair_is_made_of_what_is_too_close_or_was_asked_otherwise(other: tuple, score: float) -> None:
    assert list(preferences([(session(*WHOLE), 1.0), (session(*other), score)], 0.5)) == []
