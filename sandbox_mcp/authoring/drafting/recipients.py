"""The user of a draft: what it said in the session becomes its opening, its answers, its confirmation and what follows.

Policy: only what was said is written down. What the user wants in other words, and where its knowledge ends, only an
author can say; the draft puts the user's own words there, to be replaced.
"""

from typing import Any

from sandbox_scenarios.model import Script

from sandbox_mcp.authoring.drafting.story import Story
from sandbox_mcp.authoring.drafting.words import words
from sandbox_mcp.users import ScriptedUser
from sandbox_mcp.users.scripted import CODE, question_in

ABOUT = 8
"""From how many words of a question an answer is known at most."""


def user_of(story: Story) -> dict[str, Any]:
    """The part of a scenario file about the user."""
    opening, *later = (turn.said for turn in story.turns)
    script: dict[str, Any] = {}
    for turn, said in enumerate(later, start=1):
        if said:
            _learn(script, story.turns[turn - 1].reply, said)
    knows = [line for line in dict.fromkeys(later) if line and line != script.get("confirm")]
    return {
        "goal": opening,
        "knows": knows or [opening],
        "does_not_know": ["What the phone says."],
        "opening": opening,
        **({"script": script} if script else {}),
    }


def _learn(script: dict[str, Any], reply: str, said: str) -> None:
    """Take an answer over into the script, by what it answered."""
    question = question_in(reply)
    if CODE.search(reply) or _asks_permission(reply):
        script.setdefault("confirm", said)
    elif question is None:
        script.setdefault("then", []).append(said)
    else:
        about = words(question)[:ABOUT] or [word.strip("?.,!") for word in question.split()][:ABOUT]
        script.setdefault("answers", []).append({"about": about, "say": said})


def _asks_permission(reply: str) -> bool:
    """Whether a user without anything to say of its own would take it as a request for permission."""
    default = Script()
    return ScriptedUser(default).next_line([reply]) == default.confirm
