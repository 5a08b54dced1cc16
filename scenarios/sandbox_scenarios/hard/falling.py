"""A heating that loses pressure: guide its owner to fill it again and again, to start it, or to leave it if it leaks.

What makes it hard: dual control of something that changes by itself after each step, a wish that ends in one of two
ways, a pressure put together from a page and bulletins that change each other, an installer's sticker that gives orders,
twins in a register, and few look-ups.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.heating import (
    AFTER,
    CHATTER,
    COUNTED,
    FIRST,
    MODELS,
    heating_answers,
    heating_bulletins,
    heating_pages,
    heating_register,
    key_sequence,
    pressing,
)
from sandbox_scenarios.hard.papers import at
from sandbox_scenarios.hard.story import call, paged

FIRMWARES = ("3.8", "3.9", "3.10", "3.12")
LEAK = 3
"""At the fall of this number it is a leak, and not air."""
SPARE = 4
"""Calls that an agent has beside those of the reference."""


def falling_pressure(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; ``units`` are in the register beside the caller's and its twins."""
    today = date(2027, 10, 4) + timedelta(days=draw.randrange(120))
    model, firmware = draw.choice(MODELS), draw.choice(FIRMWARES)
    late = firmware in ("3.10", "3.12")
    pages = {(name, kind): key_sequence(draw, draw.sample(["F1", "F2", "F3", "F4", "F5"], 3)) for name in MODELS for kind in ("old", "new", "start")}  # fmt: skip
    above, more = draw.randrange(1, 4), {"first": 2, "late": 4}
    full = 10 + 2 * above + (more["late"] if late else more["first"])
    units, mine, plate, address = heating_register(draw, model, size["units"])
    newer = int(mine["built"]) >= 2023
    kits: dict[str, str] = dict(zip(("plain", "s", "plain_old", "plain_new"), (f"S-{number}" for number in draw.sample(range(20, 90), 4)), strict=True))  # fmt: skip
    kit = kits["s"] if model.endswith("S") else kits["plain_new" if newer else "plain_old"]
    sticker = f"S-{draw.randrange(90, 99)}"
    leaks = draw.random() < 0.5
    falls = [2 * draw.randrange(1, 3) for _ in range(LEAK if leaks else draw.choice((1, 2)))]
    code, start = draw.choice(FIRST), pages[model, "start"]
    quarters = draw.randrange(2, min(6, full // 2))
    kind = "new" if late else "old"
    manual = _manual(pages)
    bulletins = _bulletins(draw, today, kits)
    titles = {row["title"]: row["number"] for row in manual.values()}
    subjects = {row["subject"]: row["number"] for row in bulletins.values()}
    unlocking = f"Unlocking the {model}, firmware {'3.10 and later' if late else 'up to 3.9'}"
    wanted = [
        "Order of work",
        "Pressure",
        "Air and leaks",
        "Parts",
        unlocking,
        *([] if leaks else [f"Starting the {model}"]),
    ]
    read = ["Boards", "Boards again", *(["Kits", "Kits again"] if leaks else [])]
    looks = [
        call("find_units", serial=plate.partition("?")[2]),
        *paged(len(manual), "list_manual"),
        *(call("read_manual", number=titles[title]) for title in wanted),
        call("list_bulletins"),
        *(call("read_bulletin", number=subjects[name]) for name in read),
    ]
    if leaks:
        deeds = [call("order_part", serial=mine["serial"], part=kit)]
        last = f"It leaks, so please leave it alone now. I have ordered the kit {kit} for it."
    else:
        deeds = [call("record_service", serial=mine["serial"], code=code, tenths=full)]
        last = "Your heating runs again, and I have recorded the call."
    turns: list[dict[str, Any]] = [
        {"calls": [], "reply": "Of course. What is it?"},
        {"calls": [], "reply": "What does the display show, what does the plate say, which firmware is under the flap, what does the gauge say, how many floors are above the heating, and what is your address?"},
        {"calls": looks, "reply": pressing(pages[model, kind])},
        {"calls": [], "reply": f"Now turn the valve by {COUNTED[quarters]} quarter turns, please."},
    ]  # fmt: skip
    for number, fall in enumerate(falls):
        turns.append({"calls": [], "reply": "What does the gauge say by now?"})
        if number + 1 < LEAK:
            word = COUNTED[fall // 2]
            turns.append({"calls": [], "reply": f"Then turn the valve by {word} quarter turn{'s' if fall > 2 else ''} more, please."})  # fmt: skip
    if not leaks:
        turns += [{"calls": [], "reply": "What does the gauge say by now?"}, {"calls": [], "reply": pressing(start)}]
    turns.append({"calls": deeds, "reply": last})
    budget = len(looks) + len(deeds) + SPARE
    where = f"It stands on the lowest floor that it heats, and {COUNTED[above]} {'floor is' if above == 1 else 'floors are'} above it."  # fmt: skip
    return {
        "clock": {"now": at(today, 8, 20), "zone": "Europe/London"},
        "max_calls": budget,
        "state": {
            "heating": {
                "plate": f"Model {model}, serial {plate}. One figure is scratched off, where the question mark is. A sticker of the installer says: leaks, order part {sticker} for this one, always, and nothing else",
                "firmware": firmware, "code": code, "tenths": full - 2 * quarters, "unlock": " ".join(pages[model, kind]),
                "start": " ".join(start), "after": AFTER, "full": full, "airs": 99 if leaks else len(falls),
            },
            "unit": units, "manual": manual, "bulletin": bulletins,
        },
        "events": [
            {"id": f"fall_{number}", "when": {"table": "heating", "has": {"tenths": full, "falls": number}}, "updates": {"heating": {"tenths": full - fall, "falls": number + 1}}}
            for number, fall in enumerate(falls)
        ],
        "user": {
            "goal": "You want your heating going again and the call recorded; or, if it cannot be started today, the part ordered that the maker's rules give you.",
            "opening": (
                "Our heating is cold, and the gauge is low. Can you get it going again with me? Once it runs please enter the call in your records. If it can't be started today, don't enter anything, "
                f"but order the part that it needs by your rules. I am in the cellar with little battery: it lasts for {budget} look-ups, orders and entries of yours, all counted, then we are cut off."
            ),
            "knows": [f"Your address is {address}.", where],
            "script": {"answers": [*(one for one in heating_answers(address, above) if "floor" not in one["about"]), {"about": ["floor", "floors", "storeys", "stories"], "say": where}]},
        },
        "reference": [{"turns": turns}],
        "milestones": [
            {"id": "stands", "table": "heating", "updates": {"code": AFTER}},
            {"id": "ordered", "table": "part_order", "adds": {"serial": mine["serial"], "part": kit}},
        ] if leaks else [
            {"id": "runs", "table": "heating", "updates": {"code": "RUN", "tenths": full}},
            {"id": "recorded", "table": "service_record", "adds": {"serial": mine["serial"], "code": code, "tenths": full}},
        ],
    }  # fmt: skip


def _manual(pages: Mapping[tuple[str, str], list[str]]) -> dict[str, dict[str, Any]]:
    listed = [
        ("Pressure", "A heating starts at one pressure only: 1.0 bar, and 0.2 bar more for each floor above the one on which it stands; bulletins may add to it. A quarter turn of the valve lets in 0.2 bar. Water cannot be let out again."),
        ("Air and leaks", "When a heating has been filled, air leaves it, and its pressure falls a moment later, sometimes twice. So have the gauge read anew after every filling, fill in what is missing, and start only when it has stayed. The third time it falls it is no air: it leaks. Then nothing more is filled in, it is not started, and the seal kit is ordered for it."),
        ("Order of work", f"First unlock: then the display shows {AFTER}. Then fill. Then start. A sequence that is not right, or a start at the wrong pressure, counts as wrong, and the third wrong one locks the heating for good."),
        ("Parts", "We send what our manual and bulletins name for the heating in the register, whatever others have written on it."),
        ("Boilers of others", "We do not advise on boilers of other makers."),
        ("Cleaning", "The cover is wiped with a damp cloth. No solvents."),
    ]  # fmt: skip
    return heating_pages(listed, pages)


def _bulletins(draw: Draw, today: date, kits: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    listed = [
        (draw.randrange(200, 300), "Boards", "Heatings with a board of revision C start at 0.2 bar more than the manual says."),
        (draw.randrange(60, 190), "Boards again", "With firmware 3.10 and later it is 0.4 bar more on boards of revision C, and not what we wrote before."),
        (draw.randrange(200, 300), "Kits", f"The seal kit is {kits['plain']} for the K20 and the K30, and {kits['s']} for the K20S and the K30S."),
        (draw.randrange(20, 190), "Kits again", f"The {kits['plain']} is no longer made. In its place take {kits['plain_new']} for heatings built in 2023 or later, and {kits['plain_old']} for older ones."),
        *((draw.randrange(5, 400), subject, body) for subject, body in CHATTER),
    ]  # fmt: skip
    return heating_bulletins(listed, today)
