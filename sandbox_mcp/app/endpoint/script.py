"""Scripts: what the model says, step by step, from a file.

Policy: how many answers the conversation holds tells where in the script it is, so that any number of conversations can
be played at the same time. After its last step a script has nothing to add, or with ``repeat`` does that step again.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sandbox_clients.reference import NOTHING_LEFT
from sandbox_scenarios.errors import ScenarioFileError
from sandbox_scenarios.plan import PlanError, as_text, fill
from sandbox_scenarios.yaml_lines import load

from sandbox_mcp.app.endpoint.outputs import bare
from sandbox_mcp.app.endpoint.prompt import Prompt
from sandbox_mcp.app.endpoint.reply import ModelReply, Move, PlannedFault, PlannedMove, ReplyFault
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools.results import parsed


class ScriptError(SandboxError):
    """A script that cannot be used."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScriptCall(_Strict):
    """One call; ``as`` names its result for ``$name.path`` in later steps. Arguments as text go out as they are."""

    tool: str
    arguments: dict[str, Any] | str = {}
    label: str | None = Field(default=None, alias="as")


class ScriptFault(_Strict):
    """Failure of the endpoint before this step; without ``times``, once."""

    kind: ReplyFault = "status"
    status: int = Field(default=500, ge=400, le=599)
    retry_after: float | None = Field(default=None, ge=0)
    times: int | Literal["always"] = 1

    def fault(self) -> PlannedFault:
        """The fault itself."""
        return PlannedFault(self.kind, self.status, self.retry_after, None if self.times == "always" else self.times)


class ScriptStep(_Strict):
    """One answer of the model: what it says, what it calls, and perhaps how the endpoint fails first."""

    say: str = ""
    calls: list[ScriptCall] = []
    fault: ScriptFault | None = None


class ModelScript(_Strict):
    """A whole script."""

    steps: list[ScriptStep] = Field(min_length=1)
    repeat: bool = False


def read_script(path: Path) -> ModelScript:
    """Read a script from a YAML or JSON file.

    Raises:
        ScriptError: the file cannot be read or has another form.
    """
    try:
        return parse_script(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise ScriptError(f"script {str(path)!r} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScriptError(f"script {str(path)!r} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def parse_script(text: str, path: str = "<script>") -> ModelScript:
    """Read a script from text, in the YAML that scenario files are written in.

    Raises:
        ScriptError: it has another form; the message says where.
    """
    if not text.strip():
        raise ScriptError(f"{path}: is empty; expected 'steps', a list of what the model does")
    try:
        data, lines = load(text, path)
    except ScenarioFileError as error:
        raise ScriptError(str(error)) from error
    try:
        return ModelScript.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ScriptError(f"{path}:{lines.of(first['loc'])}: {where or 'the whole'}: {first['msg']}") from error


@dataclass(frozen=True, slots=True)
class ScriptedModel:
    """Follows a script."""

    script: ModelScript

    async def decide(self, prompt: Prompt, tries: int) -> ModelReply:
        """Take the step at this place of the script."""
        prompt = prompt.without_example()
        steps = self.script.steps
        position = len(prompt.steps)
        if position >= len(steps) and not self.script.repeat:
            return Move(NOTHING_LEFT)
        step = steps[min(position, len(steps) - 1)]
        fault = step.fault.fault() if step.fault else None
        if fault and fault.strikes(tries):
            return fault
        results: dict[str, Any] = {}
        for planned, taken in zip(steps, prompt.steps, strict=False):
            for call, made in zip(planned.calls, taken.calls, strict=False):
                if call.label and made.id in taken.outputs:
                    results[call.label] = parsed(bare(taken.outputs[made.id]))
        try:
            calls = tuple(
                PlannedMove(
                    prompt.offered(call.tool) or call.tool,
                    call.arguments if isinstance(call.arguments, str) else fill(call.arguments, results),
                )
                for call in step.calls
            )
            return Move(as_text(fill(step.say, results)), calls)
        except PlanError as error:
            return Move(f"I cannot go on: {error}.")
