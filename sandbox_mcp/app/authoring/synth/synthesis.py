"""Drafting many scenarios with a model, and counting what each filter leaves of them.

Policy: a draft that does not pass is shown to the model with the reason, as often as asked, before it is given up. What
passes is a draft file; what does not is kept with its reason, so that nothing that was paid for is lost.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import move
from tempfile import TemporaryDirectory
from typing import Any

from sandbox_scenarios import Suite

from sandbox_mcp.app.authoring.drafting.words import free_name
from sandbox_mcp.app.authoring.synth.asking import ROLE, DraftAnswer, question, read_draft
from sandbox_mcp.app.authoring.synth.filters import FILTERS, Candidate, first_fault
from sandbox_mcp.app.authoring.synth.orders import DraftOrder
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.play.models.asking import EndpointError, EndpointSettings
from sandbox_mcp.play.models.completions import Completions

ANSWERED = "answers in the form"
"""The filter before all others: the model's answer can be read at all."""
REJECTED = "rejected.jsonl"
MEND = "That draft cannot be used: {fault}. Send the whole JSON object again, mended."
_WORDLESS = re.compile(r"[^a-z0-9]+")


@dataclass(slots=True)
class Synthesis:
    """Outcome of drafting: the files kept, and the number of drafts that each filter kept."""

    kept: list[Path] = field(default_factory=list[Path])
    reached: dict[str, int] = field(default_factory=lambda: dict.fromkeys((ANSWERED, *FILTERS), 0))
    passed: dict[str, int] = field(default_factory=lambda: dict.fromkeys((ANSWERED, *FILTERS), 0))
    asked: int = 0

    def note(self, failed: str | None) -> None:
        """Count one draft; ``failed`` is the filter that it did not pass."""
        for name in self.reached:
            self.reached[name] += 1
            if name == failed:
                return
            self.passed[name] += 1

    @property
    def drafted(self) -> int:
        """Number of drafts that were asked for."""
        return self.reached[ANSWERED]

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        filters: list[dict[str, Any]] = []
        for name, came in self.reached.items():
            passed = self.passed[name]
            filters.append({"filter": name, "came": came, "passed": passed, "share": passed / came if came else None})
        kept = [str(path) for path in self.kept]
        return {"drafted": self.drafted, "kept": kept, "requests": self.asked, "filters": filters}


@dataclass(frozen=True, slots=True)
class Workshop:
    """Places for drafting: the suite they branch from, the caller's files, and the folder for what passes."""

    suite: Suite
    places: tuple[Path, ...]
    out: Path
    settings: EndpointSettings
    mend: int = 1


async def synthesise(shop: Workshop, wanted: Sequence[DraftOrder], watch: Callable[[int, int], None]) -> Synthesis:
    """Draft the wanted scenarios, one after the other, and keep what passes every filter.

    Raises:
        RunError: the endpoint cannot be asked or gives no answer.
    """
    if problem := shop.settings.problem():
        raise RunError(f"the model that drafts {problem}")
    shop.out.mkdir(parents=True, exist_ok=True)
    made, endpoint = Synthesis(), Completions(shop.settings)
    worlds = dict.fromkeys(shop.suite.world(order.base) for order in wanted)
    openings = [scenario.user.opening for world in worlds for scenario in shop.suite.all(world)]
    try:
        for number, order in enumerate(wanted, start=1):
            with TemporaryDirectory() as folder:
                await _one(shop, order, Path(folder), endpoint, openings, made)
            watch(number, len(wanted))
    except EndpointError as error:
        told = f"{len(made.kept)} drafts are in {str(shop.out)!r}"
        raise RunError(f"the model gave no answer; {told}: {error}") from error
    finally:
        await endpoint.aclose()
    return made


async def _one(
    shop: Workshop, order: DraftOrder, folder: Path, endpoint: Completions, openings: list[str], made: Synthesis
) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": ROLE},
        {"role": "user", "content": question(order, shop.suite)},
    ]
    fault, text = ("", ""), ""
    for _ in range(shop.mend + 1):
        text = (await endpoint.ask(messages, [])).text
        made.asked += 1
        answer = read_draft(text)
        if isinstance(answer, str):
            fault = (ANSWERED, answer)
        else:
            candidate = Candidate(order, _name(shop, order, answer), answer, folder, shop.suite, shop.places, openings)
            found = first_fault(candidate)
            if found is None:
                made.note(None)
                openings.append(answer.user.opening or "")
                made.kept.append(Path(move(candidate.path, shop.out / candidate.path.name)))  # perhaps to another disk
                return
            fault = found
        messages += [{"role": "assistant", "content": text}, {"role": "user", "content": MEND.format(fault=fault[1])}]
    made.note(fault[0])
    told = {
        "kind": order.kind, "twist": order.twist, "base": order.base, "original": order.original,
        "filter": fault[0], "why": fault[1], "answer": text,
    }  # fmt: skip
    with (shop.out / REJECTED).open("a", encoding="utf-8") as file:
        file.write(json.dumps(told, ensure_ascii=False) + "\n")


def _name(shop: Workshop, order: DraftOrder, answer: DraftAnswer) -> str:
    """A name that no scenario and no draft has."""
    given = _WORDLESS.sub("_", answer.name.lower()).strip("_0123456789")
    slug = (given or f"{order.original or order.base}_{order.kind}")[:60]
    return free_name(slug, {*shop.suite.names("*"), *(path.stem for path in shop.out.glob("*.yaml"))})
