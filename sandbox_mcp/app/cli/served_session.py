"""Session that ``serve`` serves: the one that its options ask for, gone on with where it is kept, or else begun.

Policy: options that do not go together are refused before anything is served, and so is a session that was begun
otherwise than the options say now.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox_mcp.engine.errors import SandboxError

if TYPE_CHECKING:
    from sandbox_scenarios import Suite

    from sandbox_mcp.play.session import SessionSpec
    from sandbox_mcp.play.session.manager import SessionManager
    from sandbox_mcp.play.session.open_session import OpenSession
    from sandbox_mcp.play.session.state_folder import StateDir


@dataclass(frozen=True, slots=True)
class Play:
    """Session to serve, None where nothing was said; and whether the person at the client may confirm calls."""

    scenario: str | None
    variant: str | None
    seed: int | None
    user_channel: str | None
    session: str | None
    elicits: bool


def checked_suite(places: tuple[Path, ...], world: str) -> "Suite":
    """The scenarios to serve. The user's own are checked now, since a client could be told little of their faults.

    Raises:
        ScenarioError: a file cannot be used.
        UnknownWorldError: a scenario is of a world not known.
    """
    from sandbox_scenarios import Suite

    from sandbox_mcp.engine.worlds import named

    suite = Suite(places, world=world)
    if world and not suite.names(world):
        named(world)  # an unknown one is told with those that there are
        told = f"no scenario is of world {world!r}, so that there is nothing to serve"
        raise SandboxError(f"{told}; name files that have some with --scenarios, or serve a tape with --tape")
    for name in suite.worlds_played() if places else ():
        named(name)
    return suite


def checked_play(options: Mapping[str, Any]) -> Play:
    """Check which session the options of ``serve`` ask for.

    Raises:
        SandboxError: they do not go together.
    """
    play = Play(**{item.name: options[item.name] for item in fields(Play)})
    if play.session and not options["state_dir"]:
        raise SandboxError("--session names a session in a state folder; say which with --state-dir")
    if not play.scenario and not play.session and (play.variant or play.seed is not None or play.user_channel):
        raise SandboxError("--variant, --seed and --user-channel go with --scenario; the lobby has none of them")
    user = options["user"]
    if user == "llm" and not options["user_model"]:
        raise SandboxError("the llm user needs to know which model to ask; name one with --user-model")
    for option in ("user_base_url", "user_api_key_env", "user_tools", "user_without"):
        if options[option] and not options["user_model"]:
            raise SandboxError(
                f"--{option.replace('_', '-')} is for a user that a model plays; name it with --user-model"
            )
    if user == "human" and not play.elicits:
        raise SandboxError("the human user is asked by elicitation; leave out --no-elicitation")
    if user == "human" and play.scenario and play.user_channel != "tool":
        raise SandboxError("the human user is reached with send_message_to_user; add --user-channel tool")
    return play


def offered(manager: "SessionManager", play: Play, state: "StateDir | None" = None) -> "OpenSession":
    """The session that was named, or the one of the scenario: gone on with where it is kept, else begun."""
    from sandbox_mcp.play.session import SessionSpec

    spec = None
    if play.scenario is not None:
        spec = SessionSpec(
            scenario=manager.suite.get(play.scenario),
            variant=play.variant or "base",
            seed=play.seed or 0,
            user_channel="tool" if play.user_channel == "tool" else "harness",
            session_id=play.session or "",
        )
    wanted = spec.id if spec else play.session or ""
    kept = state.named(wanted) if state else manager.named(wanted)
    if kept is not None:
        _check_same(play, kept.session.spec)
        return kept
    if spec is None:
        raise SandboxError(f"session {wanted!r} is not in the state folder yet; say which --scenario to begin")
    if state:
        return state.open(spec)
    return manager.create(spec, manager.user(None, spec.scenario, spec.variant))


def _check_same(play: Play, spec: "SessionSpec") -> None:
    given: Mapping[str, Any] = {
        "scenario": (play.scenario, spec.scenario.name),
        "variant": (play.variant, spec.variant),
        "seed": (play.seed, spec.seed),
        "user-channel": (play.user_channel, spec.user_channel),
    }
    for option, (asked, recorded) in given.items():
        if asked is not None and asked != recorded:
            raise SandboxError(f"session {spec.id!r} was begun with --{option} {recorded}, not {asked}")
