"""A count of stock: correct the books of a hall by what two teams counted, as far as the rules leave it to the desk.

What makes it hard: amount (some 20 movements of each of 14 items, and no list of what the books have), rules scattered
over pages, a mail and notes, movements that were taken back later, and people who may not freeze anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.papers import day, euros
from sandbox_scenarios.hard.story import Story, call, exercised, paged

HALLS = ("north", "south", "harbour", "upper")
THINGS = ("Hinge", "Bracket", "Valve", "Gasket", "Coupling", "Clamp", "Sleeve", "Washer", "Spindle", "Latch", "Bearing")
TEAMS = ("Blue", "Green", "Red")
KINDS = (
    "even", "beyond", "void", "reversal", "packs", "same_day", "team_packs", "control", "no_control", "dear",
    "at_limit", "frozen", "not_frozen",
)  # fmt: skip
"""An item of the hall of each kind, by the rule that decides about it."""
RULES = (
    "void", "reversal", "packs", "same_day", "later", "team_packs", "control", "no_control", "tolerance", "limit",
    "frozen", "authority",
)  # fmt: skip
Ruling = int | None
"""What becomes of an item: a correction by so many pieces, 0 for a recount, None for nothing."""


@dataclass(slots=True)
class _Item:
    row: dict[str, Any]
    moves: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    counts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    frozen: str = ""

    def book(self, counted: str, rules: frozenset[str]) -> int:
        """Pieces that the books have when the count is over."""
        pieces, known = self.row["opening"], {move["number"]: move for move in self.moves}
        for move in self.moves:
            original = known[move["of"]] if move["kind"] == "reversal" else move
            at = original["day"] if "reversal" in rules else move["day"]
            late = (at > counted if "same_day" in rules else at >= counted) and "later" in rules
            if late or (move["status"] == "void" and "void" in rules):
                continue
            worth = move["quantity"] * (self.row["pack"] if move["unit"] == "pack" and "packs" in rules else 1)
            pieces += worth if (original["kind"] == "in") == (original is move) else -worth
        return pieces

    def outcome(self, counted: str, percent: int, limit: int, rules: frozenset[str]) -> Ruling:
        """What becomes of it by these of the rules."""
        if (self.frozen == "auditor" and "frozen" in rules) or (self.frozen == "clerk" and "authority" not in rules):
            return None
        counts: dict[str, int] = {}
        for one in self.counts:
            in_packs = one["team"] == TEAMS[0] and "team_packs" in rules
            counts[one["team"]] = one["quantity"] * (self.row["pack"] if in_packs else 1)
        control = counts.pop("Control", None)
        found = next(iter(counts.values()))
        if len(set(counts.values())) > 1:
            if control is None and "no_control" in rules:
                return 0
            found = control if control is not None and "control" in rules else found
        book = self.book(counted, rules)
        off = found - book
        if not off or (abs(off) * 100 <= percent * book and "tolerance" in rules):
            return None
        return 0 if abs(off) * self.row["price_cents"] > limit and "limit" in rules else off


def stock_count(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; sizes are ``others`` (items elsewhere) and ``rows`` (movements of an item)."""
    while True:
        story = Story(draw, date(2027, 4, 1 + draw.randrange(27)))
        counted = day(story.today, -draw.randrange(5, 9))
        percent, limit = draw.choice((1, 2, 3)), 10_000 * draw.randrange(3, 7)
        hall, *elsewhere = draw.sample(HALLS, len(HALLS))
        items = [_item(story, kind, hall, counted, (percent, limit), size["rows"]) for kind in KINDS]

        def answer(rules: frozenset[str]) -> list[Ruling]:
            return [one.outcome(counted, percent, limit, rules) for one in items]  # noqa: B023

        if exercised(answer, RULES):
            break
    others = [
        _item(story, "", draw.choice(elsewhere), counted, (percent, limit), size["rows"]) for _ in range(size["others"])
    ]
    staff = story.staff(
        keeper="head of warehouse", clerk="storekeeper", auditor="auditor", buyer="purchasing clerk"
    )  # fmt: skip
    for one in items:
        if one.frozen:
            number, by = one.row["number"], staff[one.frozen]
            story.note(
                number, -draw.randrange(2, 9), by, "Please book nothing on this one until I have been to see it."
            )
    for text in ("Label is hard to read.", "Moved to the lower shelf.", "Supplier has changed the box.", "Dusty."):
        story.note(draw.choice([*items, *others]).row["number"], -draw.randrange(2, 90), staff["clerk"], text)
    _rules(story, percent, limit, staff["keeper"], counted)
    for one in [*items, *others]:
        story.rows.setdefault("item", {})[f"item_{one.row['number'][2:]}"] = one.row
    moves = sorted((move for one in [*items, *others] for move in one.moves), key=lambda move: move["day"])
    for move in moves:
        story.add("move", **move)
    for count in (count for one in [*items, *others] for count in one.counts):
        story.add("count", **count)
        if draw.random() < 0.4:
            story.add(
                "count",
                **{
                    **count,
                    "day": day(date.fromisoformat(counted), -91),
                    "quantity": count["quantity"] + draw.randrange(9),
                },
            )
    story.shuffled("item", "count")
    outcomes = dict(zip((one.row["number"] for one in items), answer(frozenset(RULES)), strict=True))
    deeds = [
        call("book_correction", item=item, pieces=off) if off else call("order_recount", item=item)
        for item, off in outcomes.items()
        if off is not None
    ]
    on_day = sum(count["day"] == counted for count in story.rows["count"].values())
    looks = [
        *story.papers(list(staff.values())),
        call("list_items", hall=hall),
        *paged(on_day, "list_counts", day=counted),
        *(look for one in items for look in paged(len(one.moves), "list_moves", item=one.row["number"])),
        call("search_notes", text="book nothing"),
        call("list_employees"),
    ]
    told = f"The books of the {hall} hall are corrected by the count of {counted}, as far as our rules allow."
    return story.entry(
        (
            f"You want the books of the {hall} hall put right by the count of {counted}, by the rules of the firm.",
            f"Please put the books of the {hall} hall right by the count of {counted}: book what has to be corrected, and order a recount where our rules want one. The other halls are done by others.",
        ),
        [{"calls": [*looks, *deeds], "reply": told}],
        [
            ("adds", "correction", {"item": item, "pieces": off}) if off else ("adds", "recount", {"item": item})
            for item, off in outcomes.items()
            if off is not None
        ],
    )  # fmt: skip


def _item(story: Story, kind: str, hall: str, counted: str, bounds: tuple[int, int], rows: int) -> _Item:
    """An item with movements and counts in which its kind of rule decides."""
    draw, (percent, limit) = story.draw, bounds
    number, pack, price = story.number("A"), draw.choice((6, 10, 12, 20)), draw.randrange(90, 260)
    one = _Item({"number": number, "name": f"{draw.choice(THINGS)} {number[2:]}", "hall": hall, "pack": pack, "price_cents": price, "opening": 0})  # fmt: skip
    on = date.fromisoformat(counted)
    for _ in range(rows - 3):
        one.moves.append(_move(story, number, day(on, -draw.randrange(2, 90)), draw.choice(("piece", "piece", "pack"))))
    one.moves += [_move(story, number, day(on, later), "piece") for later in (1, draw.randrange(2, 5), 0)]
    if kind == "void" or draw.random() < 0.3:
        one.moves[0]["status"] = "void"
    if kind == "reversal":
        back = one.moves[1]
        one.moves.append({**_move(story, number, day(on, 2), back["unit"]), "kind": "reversal", "quantity": back["quantity"], "of": back["number"]})  # fmt: skip
    every = frozenset(RULES)
    net = one.book(counted, every)
    one.row["opening"] = 100 * draw.randrange(20, 60) - net  # the books have hundreds, so that a tolerance can be met
    book = one.book(counted, every)
    let_be = percent * book // 100
    off = let_be + (0 if kind == "even" else 1 if kind == "beyond" else draw.randrange(3, 40))
    if kind == "dear":
        one.row["price_cents"] = limit // off + draw.randrange(1, 9)
    elif kind == "at_limit":
        one.row["price_cents"], off = 100, limit // 100
    else:
        one.row["price_cents"] = min(price, limit // off)
    found = book + (off if draw.random() < 0.5 else -off)
    teams = draw.sample(TEAMS[1:], 2)
    if kind == "team_packs":
        teams = [TEAMS[0], draw.choice(TEAMS[1:])]
        short = -found % pack
        one.row["opening"] += short
        found += short
    quantities = {team: found // pack if team == TEAMS[0] else found for team in teams}
    if kind in ("control", "no_control"):
        quantities[teams[0]] += draw.choice((-1, 1)) * draw.randrange(let_be + off, let_be + off + 90)
    if kind == "control":
        quantities["Control"] = found
    one.counts = [
        {"item": number, "day": counted, "team": team, "quantity": quantity, "unit": "piece"}
        for team, quantity in quantities.items()
    ]
    one.frozen = {"frozen": "auditor", "not_frozen": "clerk"}.get(kind, "")
    return one


def _move(story: Story, item: str, on: str, unit: str) -> dict[str, Any]:
    draw = story.draw
    quantity = draw.randrange(2, 30) if unit == "pack" else draw.randrange(10, 300)
    kind = draw.choice(("in", "out"))
    return {"number": story.number("V"), "item": item, "day": on, "kind": kind, "quantity": quantity, "unit": unit, "of": None, "status": "booked"}  # fmt: skip


def _rules(story: Story, percent: int, limit: int, keeper: str, counted: str) -> None:
    story.page(
        "What the books have",
        "The books begin with the pieces of the first of January, to which comes what came in and from which goes what went out. Some movements are entered in packs; the item's record says how many pieces are in one.",
    )
    story.page(
        "Mistakes at the terminal",
        "What was entered by mistake gets the status void and has moved nothing. What was found out later is taken back by a reversal: it undoes the movement that it names as of that movement's day, whenever it was entered.",
    )
    story.page(
        "Counting",
        "A hall is counted in the evening, after the last truck, by two teams that do not see each other's sheets. Where their figures differ a control is held, and then only the control's figure counts. Where they differ and there was no control, nobody knows, and the item is counted again.",
    )
    story.page(
        "Differences",
        f"A difference is what was counted less what the books had in that hour. Up to {percent} per cent of what the books had, that included, it is let be. Anything more is booked as a correction, unless it is worth more than {euros(limit)} at the item's price; then the item is counted again instead.",
    )
    story.page(
        "Audit",
        "The auditor may freeze an item by a note on its record; it is then neither corrected nor counted again. Nobody else may.",
    )
    story.mail(-3, keeper, "Sheets", f"Just so that nobody wonders: on {counted} team {TEAMS[0]} wrote packs on all its sheets, although the sheets say piece. The others did it right.")  # fmt: skip
