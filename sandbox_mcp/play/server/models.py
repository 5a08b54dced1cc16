"""The bodies of the HTTP control API: what harnesses send and get. The OpenAPI document is made from these."""

import json
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sandbox_mcp.engine.trajectory import EndReason, UserChannel
from sandbox_mcp.play.session.opening import LARGEST


class Body(BaseModel):
    """Base of all bodies: unknown keys are refused, because a misspelt option that is ignored spoils a run."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NewSession(Body):
    """What to play, and how."""

    scenario: str = Field(description="Name of a scenario, as GET /api/scenarios lists it.")
    variant: str = Field(default="base", description="How its tools are presented.")
    seed: int = Field(default=0, ge=-LARGEST, le=LARGEST, description="Fixes every id that the world hands out.")
    trial: int = Field(default=0, ge=0, le=LARGEST, description="Which repetition this is; only recorded.")
    user: str | None = Field(default=None, description="Which simulated user plays; the server's default if not given.")
    user_channel: UserChannel = Field(
        default="harness",
        description="Who brings the agent's words to the user: the harness, or the agent itself with a tool.",
    )
    agent: dict[str, Any] = Field(default_factory=dict[str, Any], description="What is known of the agent; recorded.")
    instructions: str | None = Field(
        default=None, description="What the agent should be told first; the server's own text if not given. Recorded."
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_not_given(cls, body: Any) -> Any:
        """Null for what has a default counts as not given, as it does in a call of a tool."""
        if not isinstance(body, dict):
            return body
        given = cast("dict[str, Any]", body)
        defaulted = {name for name, item in cls.model_fields.items() if not item.is_required()}
        return {key: value for key, value in given.items() if value is not None or key not in defaulted}

    @field_validator("agent")
    @classmethod
    def _is_json(cls, agent: dict[str, Any]) -> dict[str, Any]:
        """The reader of bodies lets NaN and infinities through, which no log can hold."""
        try:
            json.dumps(agent, allow_nan=False)
        except ValueError as error:
            raise ValueError("must hold finite numbers only") from error
        return agent


class SessionInfo(Body):
    """A session as a harness sees it."""

    id: str = Field(description="The session's token: its name in this API and in its URL. A secret.")
    session: str = Field(description="The session's name in its log and in reports. No secret.")
    scenario: str
    variant: str
    seed: int
    trial: int
    user_channel: UserChannel
    turns: int = Field(description="Messages of the agent so far.")
    calls: int = Field(description="Tool calls of the agent so far.")
    over: bool
    reason: EndReason | None = Field(description="How it ended; null while it goes on.")


class CreatedSession(SessionInfo):
    """A new session and everything needed to connect an agent to it."""

    url: str = Field(description="The agent's MCP endpoint (streamable HTTP).")
    bearer: str = Field(description="Bearer token for that endpoint; needed where the server demands one.")
    instructions: str = Field(description="What the agent should be told first, as its system prompt.")
    opening: str = Field(description="The user's first message to the agent.")
    tools: list[str] = Field(description="Names of the tools that the agent is offered.")


class NewMessage(Body):
    """What the agent says to the user: its final text of a turn."""

    text: str


class UserReply(Body):
    """What the user did."""

    reply: str | None = Field(description="The user's answer; null once the conversation is over.")
    over: bool
    reason: EndReason | None = None
    notices: list[str] = Field(description="What has been announced to the agent since it last heard from it.")
    parting: str | None = Field(default=None, description="What the user said as they left; it wants no answer.")


class EndSession(Body):
    """Why a harness ends a session."""

    reason: Literal["abandoned", "agent_ended", "agent_failed", "user_failed"] = "abandoned"
    detail: str | None = Field(default=None, max_length=2000)


class SessionScores(Body):
    """What a session has scored so far, and what it earned."""

    over: bool
    ending: EndReason | None = Field(description="How it ended; null while it goes on.")
    scored: bool = Field(description="Whether it counts: it is over, and nothing but the agent decided how.")
    reason: str | None = Field(description="Why it does not count; null if it does.")
    reward: float | None = Field(description="What it earned as an episode of training; null if it does not count.")
    score: float | None = Field(description="ToolSandbox's strict score, counted or not. No reward by itself.")
    terms: dict[str, float] = Field(description="The terms that add up to the reward.")
    figures: dict[str, float] = Field(description="Every number of the families asked for that counts.")


class ScenarioInfo(Body):
    """A scenario, as far as a harness needs to know; what would solve it is not told."""

    name: str
    about: str
    categories: list[str]
    max_turns: int
    max_calls: int


class ScenarioList(Body):
    """All that can be played."""

    scenarios: list[ScenarioInfo]
    variants: list[str]
    users: list[str]


class Health(Body):
    """That the server is up."""

    status: Literal["ok"] = "ok"
    version: str


class Problem(Body):
    """What is wrong: ``code`` for programs, ``message`` for people."""

    code: Annotated[str, Field(examples=["unknown_scenario"])]
    message: str


class ProblemBody(Body):
    """Every error of this API."""

    error: Problem
