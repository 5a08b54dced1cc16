"""The user of a draft: what it said in the session becomes its opening, its answers, its confirmation and what follows.

Policy: only what was said is written down. What the user wants in other words, and where its knowledge ends, only an
author can say; the draft puts the user's own words there, to be replaced.
"""

from typing import Any

from sandbox_scenarios.filling import as_text

from sandbox_mcp.app.authoring.drafting.story import DraftStory, StoryTurn
from sandbox_mcp.app.authoring.drafting.words import words
from sandbox_mcp.engine.talk.acts import Act, read_acts
from sandbox_mcp.engine.tools.gates import codes_in

ABOUT = 8
"""From how many words of a question an answer is known at most."""


def user_of(story: DraftStory) -> dict[str, Any]:
    """The part of a scenario file about the user."""
    opening, *later = (turn.said for turn in story.turns)
    script: dict[str, Any] = {}
    earlier = set[str]()
    for turn, said in enumerate(later, start=1):
        if said:
            reply = story.turns[turn - 1].reply
            question = question_in(reply, opening)
            does = _deed(story.turns[turn])
            if question is None:
                script.setdefault("then", []).append(does or said)
            elif codes_in(reply) or (not does and read_acts(reply, opening).act is Act.LEAVE):
                script.setdefault("confirm", said)
            else:
                asked = question or reply
                found = words(asked) or [word.strip("?.,!") for word in asked.split()]
                own = [word for word in found if word not in earlier]  # or an earlier question would get it, too
                about = (own or found)[:ABOUT]
                earlier.update(found)
                script.setdefault("answers", []).append({"about": about, "say": said, **does})
    spoken = (turn.said for turn in story.turns[1:] if not turn.acts)
    knows = [line for line in dict.fromkeys(spoken) if line and line != script.get("confirm")]
    return {
        "goal": opening,
        "knows": knows or [opening],
        "does_not_know": [f"What there is {story.home.place}."],
        "opening": opening,
        **({"script": script} if script else {}),
    }


def _deed(turn: StoryTurn) -> dict[str, Any]:
    """Act of the user in the world before it spoke, with its result as a placeholder in its words."""
    if not turn.acts:
        return {}
    act = turn.acts[-1]
    told = as_text(act.result)
    said = turn.said.replace(told, "{" + str(act.tool) + "}") if told else turn.said
    return {"does": {"act": act.tool, "arguments": dict(act.arguments)} if act.arguments else act.tool, "say": said}


def question_in(reply: str, wish: str) -> str | None:
    """Question in a reply to a user with that wish, as it is worded; None where the reply waits for nothing."""
    reading = read_acts(reply, wish)
    if codes_in(reply) or reading.act in (Act.ASKS, Act.OPEN, Act.LEAVE):
        return reading.asking or reply
    return None
