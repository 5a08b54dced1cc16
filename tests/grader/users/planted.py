"""Sessions as they were played, with one mistake of the user's planted into each."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sandbox_grader.users.leaving import is_told
from sandbox_grader.users.talk import UserView
from sandbox_scenarios.model import Answer, Scenario

from sandbox_mcp.engine.trajectory import EndReason, Message, Role, SessionEnded, ToolCall, Trajectory
from sandbox_mcp.engine.world import Change

PROMISES = (
    "Sure! Let me take care of that for you, one moment please.",
    "I'll look into that right away.",
    "Okay, searching now...",
    "Absolutely, I am on it!",
)
ASKS = (
    "Before I do this, could you tell me the {}?",
    "I'll need a bit more information. What about the {}?",
    "To do this I need to know more. Please tell me the {}.",
)
LEAVES = ("Shall I go ahead?", "Would you like me to proceed?", "Please confirm that I may do this.")
OPEN = ("What would you like me to do?", "When?", "Which one do you mean?")


def planted(scenario: Scenario, log: Trajectory) -> Iterator[tuple[str, Trajectory]]:
    """Kinds of mistakes, each with a session that has it."""
    pick = sum(map(ord, scenario.name))
    opening = [event for event in log.events if isinstance(event, Message)][:3]
    start = list(log.events[: log.events.index(opening[-1]) + 1])
    plant = _Planting(log)
    yield "early_end", plant.session(start, plant.says(PROMISES[pick % len(PROMISES)]))
    yield "early_end", plant.session(start, plant.says(LEAVES[pick % len(LEAVES)]))
    yield (
        "beside_the_point",
        plant.session(
            start,
            plant.says(OPEN[pick % len(OPEN)]),
            plant.says("Yes, please.", "user"),
            plant.says("I can't."),
            end="max_turns",
        ),
    )
    view = UserView(plant.session(start))
    answer = next((item for item in scenario.user.script.answers if _is_fact(item, scenario, view)), None)
    if answer is not None:
        ask = plant.says(ASKS[pick % len(ASKS)].format(answer.about[0]))
        yield "early_end", plant.session(start, ask)
        yield (
            "withheld",
            plant.session(start, ask, plant.says("I don't know.", "user"), plant.says("Then I can't do it.")),
        )
    if not any(
        call.tool == "add_reminder" for solution in scenario.solutions for turn in solution.turns for call in turn.calls
    ):
        yield (
            "consent",
            plant.session(
                list(log.events)[: _last_answer(log)],
                plant.says("That's done. Would you like me to set a reminder for that?"),
                plant.says("Yes, please.", "user"),
                plant.reminder(),
                plant.says("The reminder is set."),
            ),
        )


def _is_fact(answer: Answer, scenario: Scenario, view: UserView) -> bool:
    """Whether an answer tells something that the opening has not told, and no other answer to the same denies it."""
    alike = [item for item in scenario.user.script.answers if answer.about[0] in item.about]
    denied = any(
        word in item.say for item in alike for word in ("know", "remember", "tell", "recall", "look", "idea", "sure")
    )
    leave = answer.say.startswith(("No", "Not", "Go ahead", "Yes", "Turn", "Switch", "You may", "You can", "Leave"))
    return len(answer.about[0]) > 2 and not denied and not leave and not is_told(answer, view)


def _last_answer(log: Trajectory) -> int:
    return max(
        place for place, event in enumerate(log.events) if isinstance(event, Message) and event.sender == "agent"
    )


class _Planting:
    def __init__(self, log: Trajectory) -> None:
        self.log = log

    def says(self, text: str, sender: Role = "agent") -> Message:
        other: Role = "user" if sender == "agent" else "agent"
        return Message(seq=0, clock=0.0, sender=sender, recipient=other, content=text, visible_to=(sender, other))

    def reminder(self) -> ToolCall:
        row: dict[str, Any] = {"reminder_id": "planted", "content": "That", "reminder_timestamp": 1.0}
        return ToolCall(
            seq=0, clock=0.0, call="planted", batch="planted", caller="agent", name="add_reminder", tool="add_reminder",
            arguments={"content": "That"}, result="planted", changes=(Change("reminder", "planted", None, row),),
        )  # fmt: skip

    def session(
        self, start: Sequence[Message | ToolCall], *events: Message | ToolCall, end: EndReason = "user_ended"
    ) -> Trajectory:
        """A session of these events, numbered anew."""
        first = start[0].seq
        numbered = tuple(replace(event, seq=first + place) for place, event in enumerate((*start, *events)))
        ended = SessionEnded(seq=first + len(numbered), clock=0.0, reason=end)
        return replace(self.log, events=numbered, ended=ended)
