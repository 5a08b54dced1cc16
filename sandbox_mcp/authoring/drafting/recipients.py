"""The user of a draft: what it said in the session becomes its opening, its answers, its confirmation and what follows.

Policy: only what was said is written down. What the user wants in other words, and where its knowledge ends, only an
author can say; the draft puts the user's own words there, to be replaced.
"""

from typing import Any

from sandbox_mcp.authoring.drafting.story import Story
from sandbox_mcp.authoring.drafting.words import words
from sandbox_mcp.tools.gates import codes_in
from sandbox_mcp.users.acts import Act, read_acts, wish_of

ABOUT = 8
"""From how many words of a question an answer is known at most."""


def user_of(story: Story) -> dict[str, Any]:
    """The part of a scenario file about the user."""
    opening, *later = (turn.said for turn in story.turns)
    script: dict[str, Any] = {}
    for turn, said in enumerate(later, start=1):
        if said:
            reply = story.turns[turn - 1].reply
            question = question_in(reply, opening)
            if question is None:
                script.setdefault("then", []).append(said)
            elif codes_in(reply) or read_acts(reply, wish_of(opening)).act is Act.LEAVE:
                script.setdefault("confirm", said)
            else:
                about = words(question)[:ABOUT] or [word.strip("?.,!") for word in question.split()][:ABOUT]
                script.setdefault("answers", []).append({"about": about, "say": said})
    knows = [line for line in dict.fromkeys(later) if line and line != script.get("confirm")]
    return {
        "goal": opening,
        "knows": knows or [opening],
        "does_not_know": [f"What there is {story.home.place}."],
        "opening": opening,
        **({"script": script} if script else {}),
    }


def question_in(reply: str, wish: str) -> str | None:
    """What a reply asks a user with that wish for, as it is worded; None where it waits for nothing."""
    reading = read_acts(reply, wish_of(wish))
    if codes_in(reply) or reading.act in (Act.ASKS, Act.OPEN, Act.LEAVE):
        return reading.asking or reply
    return None
