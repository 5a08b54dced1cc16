"""Members for which other formats have no place: our exporters write them apart, our importers find them there.

Policy: it is believed where it has the form in which it was written; of anything else nothing is made up.
"""

from dataclasses import replace
from typing import Any, cast, get_args

from sandbox_grader.importers.reading.build import Ending, SessionBuilder
from sandbox_grader.importers.reading.json_values import JsonNode
from sandbox_grader.importers.reading.values import failure
from sandbox_mcp.engine.trajectory import CallError, EndReason, ErrorKind, Role, Trajectory

OURS = "sandbox_mcp"
"""The member."""
ROLES = frozenset(cast("tuple[str, ...]", get_args(Role)))
KINDS = frozenset(cast("tuple[str, ...]", get_args(ErrorKind)))
REASONS = frozenset(cast("tuple[str, ...]", get_args(EndReason)))
ABOUT = ("scenario", "digest", "variant", "seed", "trial", "user_channel")


def about(trajectory: Trajectory) -> dict[str, Any]:
    """Describe the session as a whole: its name, its tools' real names, and its end."""
    started, ended = trajectory.started, trajectory.ended
    return {
        **{name: getattr(started, name) for name in ABOUT},
        "categories": list(started.categories),
        "tools": {
            tool.name: {"tool": tool.tool, "domain": tool.domain, "action": tool.action} for tool in started.tools
        },
        "end": None if ended is None else {"reason": ended.reason, "detail": ended.detail},
    }


def take_about(told: JsonNode, builder: SessionBuilder) -> None:
    """Take over what :func:`about` says, but for how the session ended."""
    builder.head = replace(
        builder.head,
        scenario=told.string_at("scenario") or builder.head.scenario,
        digest=told.string_at("digest") or "",
        variant=told.string_at("variant") or "base",
        categories=tuple(item.string() for item in told.items_at("categories")),
        seed=told.whole_at("seed"),
        trial=told.whole_at("trial"),
        user_channel="tool" if told.members().get("user_channel") == "tool" else "harness",
    )
    for name, value in told.members_at("tools").items():
        tool = told.child(f"tools.{name}", value)
        canonical, domain = tool.string_at("tool"), tool.string_at("domain")
        if canonical:
            builder.identify(
                name, tool=canonical, domain=domain or "", action=tool.members().get("action") is not False
            )


def ending_in(told: JsonNode) -> Ending:
    """End of the session that :func:`about` described."""
    end = told.object_at("end")
    reason = end.members().get("reason") if end else None
    if end is None or not isinstance(reason, str) or reason not in REASONS:
        return None, None
    return cast("EndReason", reason), end.string_at("detail")


def error_object(error: CallError | None) -> dict[str, Any] | None:
    """An error as JSON; None where there was none."""
    return None if error is None else {"kind": error.kind, "type": error.type, "message": error.message}


def error_in(told: JsonNode, text: str) -> CallError:
    """The error that an object tells; ``text`` is what the caller was given."""
    kind, message = told.members().get("kind"), told.string_at("message")
    known = cast("ErrorKind", kind) if isinstance(kind, str) and kind in KINDS else "execution"
    return failure(text if message is None else message, known, told.string_at("type"))


def role_in(named: JsonNode | None, usual: Role) -> Role:
    """The role that a value names: the usual one unless it is one of ours."""
    role = named.value if named else None
    return cast("Role", role) if isinstance(role, str) and role in ROLES else usual
