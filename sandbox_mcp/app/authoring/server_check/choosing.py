"""How often a model chooses the right tool for drafted wishes, and with which of two versions of a server.

Policy: the same model drafts a tool's wishes from its description, without its name, and is then offered the whole
list. Two versions are compared over the same wishes, drafted from the first; a difference counts where its interval, by
resampling tools, leaves zero out. No score of ours depends on it.
"""

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_mcp.app.authoring.server_check.seen import SeenServer
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.worlds.recorded import TapeTool

DRAFT = """Write %d short, different requests that a person might make to an assistant, each of which is done with \
this tool alone. Do not use the tool's name. Answer with a JSON list of texts and nothing else.

%s"""
CHOOSE = "You are an assistant with tools. Call the one tool that serves the request best; do not answer in words."
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Wish:
    """A drafted request, and the tool that it is for."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class Choices:
    """What was chosen for each wish, by server: the name of a tool, or nothing."""

    wishes: Sequence[Wish]
    chosen: Mapping[str, Sequence[str]]

    @property
    def headers(self) -> tuple[str, ...]:
        """The heads of the table: tool, and the share of right choices for each server."""
        return ("tool", "wishes", *(f"right at {place[-30:]}" for place in self.chosen), "taken for")

    @property
    def rows(self) -> list[tuple[object, ...]]:
        """A row for each tool, those that were missed most first."""
        found: list[tuple[object, ...]] = []
        for tool in dict.fromkeys(wish.tool for wish in self.wishes):
            places = [n for n, wish in enumerate(self.wishes) if wish.tool == tool]
            shares = [sum(picked[n] == tool for n in places) / len(places) for picked in self.chosen.values()]
            first = next(iter(self.chosen.values()))
            wrong = dict.fromkeys(first[n] or "nothing" for n in places if first[n] != tool)
            found.append((tool, len(places), *shares, ", ".join(wrong)))
        return sorted(found, key=lambda row: float(str(row[2])))

    @property
    def verdict(self) -> str:
        """The share of right choices, which description to mend first, and for two versions their difference."""
        shares = {place: self._share(place) for place in self.chosen}
        told = [
            f"{place}: the right tool for {share:.3f} of {len(self.wishes)} wishes" for place, share in shares.items()
        ]
        worst = self.rows[0] if self.rows and float(str(self.rows[0][2])) < 1 else None
        if worst is not None:
            told.append(f"mend first: the description of {worst[0]}, for which {worst[-1]} was chosen")
        if len(self.chosen) == 2:
            low, high = self.interval
            sure = "a difference" if low > 0 or high < 0 else "no difference that is certain"
            one, other = shares.values()
            told.append(f"second against first: {other - one:+.3f}, 95 % from {low:+.3f} to {high:+.3f}: {sure}")
        return "\n".join(told)

    def _share(self, place: str) -> float:
        picked = self.chosen[place]
        return sum(wish.tool == tool for wish, tool in zip(self.wishes, picked, strict=True)) / max(1, len(self.wishes))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the paired difference of the second against the first, by resampling tools."""
        one, other = self.chosen.values()
        by_tool: dict[str, list[int]] = {}
        for n, wish in enumerate(self.wishes):
            by_tool.setdefault(wish.tool, []).append((other[n] == wish.tool) - (one[n] == wish.tool))
        groups, dice = list(by_tool.values()), random.Random(0)  # noqa: S311 - for resampling
        means: list[float] = []
        for _ in range(RESAMPLES):
            drawn = [value for _ in groups for value in dice.choice(groups)]
            means.append(sum(drawn) / len(drawn))
        means.sort()
        return means[RESAMPLES // 40], means[-RESAMPLES // 40 - 1]

    def to_json(self) -> dict[str, Any]:
        """All of it as one JSON object."""
        wishes = [{"tool": wish.tool, "wish": wish.text} for wish in self.wishes]
        interval = self.interval if len(self.chosen) == 2 else None
        shares = {place: self._share(place) for place in self.chosen}
        return {"wishes": wishes, "chosen": self.chosen, "shares": shares, "difference_interval": interval}


def choices_of(
    seen: SeenServer, other: SeenServer | None, model: str, count: int, tell: Callable[[str], None]
) -> Choices:
    """Draft wishes for a server's tools, and have the model choose among the tools of one or two servers.

    Raises:
        SandboxError: the model cannot be asked, or gave no wish that can be used.
    """
    from sandbox_mcp.play.models.asking import OPENAI, EndpointSettings

    settings = EndpointSettings(model)
    if settings.problem():
        key = f"set {OPENAI.key_variable}, or {OPENAI.url_variable} to the address of an endpoint that needs no key"
        raise SandboxError(f"{model!r} cannot be asked: {settings.package_problem() or key}")
    return asyncio.run(_choices(seen, other, settings, count, tell))


async def _choices(
    seen: SeenServer, other: SeenServer | None, settings: Any, count: int, tell: Callable[[str], None]
) -> Choices:
    from sandbox_mcp.play.models.completions import Completions

    endpoint = Completions(settings)
    try:
        wishes: list[Wish] = []
        for tool in seen.tools:
            asked = DRAFT % (count, json.dumps(_anonymous(tool), ensure_ascii=False))
            said = (await endpoint.ask([{"role": "user", "content": asked}], ())).text
            wishes += (Wish(tool.name, text) for text in _texts(said)[:count])
            tell(f"drafted {len(wishes)} wishes")
        if not wishes:
            raise SandboxError(f"{settings.model!r} drafted no wish that can be used; expected a JSON list of texts")
        chosen: dict[str, list[str]] = {}
        for server in (seen, other):
            if server is not None:
                offered = tuple(_offered(tool) for tool in server.tools)
                chosen[server.place] = [await _chosen(endpoint, wish, offered) for wish in wishes]
                tell(f"{server.place}: chose for {len(wishes)} wishes")
        return Choices(wishes, chosen)
    finally:
        await endpoint.aclose()


def _anonymous(tool: TapeTool) -> Mapping[str, Any]:
    return {"description": tool.listed.get("description") or "", "arguments": tool.listed.get("inputSchema") or {}}


def _texts(said: str) -> list[str]:
    begin, end = said.find("["), said.rfind("]")
    try:
        found: Any = json.loads(said[begin : end + 1])
    except ValueError:
        return []
    return [text for text in found if isinstance(text, str) and text.strip()]


def _offered(tool: TapeTool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": str(tool.listed.get("description") or ""),
        "parameters": tool.listed.get("inputSchema") or {"type": "object"},
    }
    return {"type": "function", "function": function}


async def _chosen(endpoint: Any, wish: Wish, offered: Sequence[Mapping[str, Any]]) -> str:
    messages = [{"role": "system", "content": CHOOSE}, {"role": "user", "content": wish.text}]
    answer = await endpoint.ask(messages, offered)
    return next((call.name for call in answer.calls), "")
