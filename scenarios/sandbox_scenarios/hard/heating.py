"""A cold heating: guide its owner through two sequences of keys and the filling, at a heating that only they can touch.

What makes it hard: dual control, a plate that cannot be read in full and twins in the register, an owner who names the
wrong model, pages by version of the firmware, bulletins that correct bulletins, and three wrong sequences that end it.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.papers import at, day
from sandbox_scenarios.hard.story import call, paged

KEYS = ("F1", "F2", "F3", "F4", "F5", "F6")
MODELS = ("K20", "K20S", "K30", "K30S")
STREETS = ("Mill Lane", "Harbour Road", "Chapel Street", "Orchard Close", "Station Road", "Well Lane")
COUNTED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
CHATTER = (
    ("Colours", "The new covers come in grey and white. Old ones are not taken back."),
    ("Training", "The course on heat pumps is full; the next one begins after the summer."),
    ("Noise", "A humming below 40 decibels is as it should be and needs no visit."),
    ("Telephone", "Please say the name of the firm at the beginning of every call."),
    ("Filters", "Filters are cleaned once a year, by a fitter or by the owner."),
    ("Leaflets", "The leaflet for owners has been printed anew, with larger letters."),
    ("Warranty", "The warranty begins on the day on which the heating was started for the first time."),
    ("Winter", "Callers without heat come first from November to March."),
)  # fmt: skip
FIRST, AFTER = ("E-14", "E-27", "E-41", "E-52"), "E-60"


def cold_heating(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; ``units`` are in the register beside the caller's and its twins."""
    today = date(2027, 1, 4) + timedelta(days=draw.randrange(60))
    family = draw.choice(("K20", "K30"))
    model, said = draw.sample((family, f"{family}S"), 2)
    wires = draw.sample([key for key in KEYS if key != "F6"], 3)  # two are crossed, and one was said to be by mistake
    crossed, mistaken = (wires[0], wires[1]), (wires[0], wires[2])
    pages = {
        (name, kind): key_sequence(draw, wires) for name in MODELS for kind in ("old", "new", "start")
    }  # fmt: skip
    floors, glycol = draw.randrange(2, 5), 2
    full = 10 + 2 * (floors - 1) + glycol
    quarters = draw.randrange(2, min(9, full // 2))
    code = draw.choice(FIRST)
    units, mine, plate, address = heating_register(draw, model, size["units"])
    parts = {"old": f"T-{draw.randrange(20, 50)}", "new": f"T-{draw.randrange(50, 90)}"}
    manual = _manual(pages)
    bulletins = _bulletins(draw, today, crossed, mistaken, parts)
    unlock, start = (_as_wired(pages[model, kind], crossed) for kind in ("new", "start"))
    titles = {row["title"]: row["number"] for row in manual.values()}
    subjects = {row["subject"]: row["number"] for row in bulletins.values()}
    wanted = [f"Unlocking the {model}, firmware 3.10 and later", f"Starting the {model}", "Filling", "Glycol"]
    looks = [
        call("find_units", serial=plate.partition("?")[2]),
        *paged(len(manual), "list_manual"),
        *(call("read_manual", number=titles[title]) for title in wanted),
        call("list_bulletins"),
        *(call("read_bulletin", number=subjects[name]) for name in ("Keys", "Keys again", "Timers", "New timers")),
    ]
    deeds = [
        call("order_part", serial=mine["serial"], part=parts["new"]),
        call("record_service", serial=mine["serial"], code=code, tenths=full),
    ]
    ask = "What does the display show, what does the plate say, which firmware is under the flap, what does the gauge say, how many floors does it heat, and what is your address?"
    turns: list[dict[str, Any]] = [
        {"calls": [], "reply": ask},
        {"calls": looks, "reply": pressing(unlock)},
        {"calls": [], "reply": f"Now turn the valve by {COUNTED[quarters]} quarter turns, please."},
        {"calls": [], "reply": pressing(start)},
        {"calls": deeds, "reply": f"Your heating runs again. I have ordered the part {parts['new']} for it and recorded the call."},
    ]  # fmt: skip
    return {
        "clock": {"now": at(today, 8, 20), "zone": "Europe/London"},
        "state": {
            "heating": {
                "plate": f"Model {model}, serial {plate}. One figure is scratched off, where the question mark is",
                "firmware": "3.10", "code": code, "tenths": full - 2 * quarters, "unlock": " ".join(unlock),
                "start": " ".join(start), "after": AFTER, "full": full,
            },
            "unit": units, "manual": manual, "bulletin": bulletins,
        },
        "user": {
            "goal": "You want your heating going again, and whatever part the maker's rules give you for it.",
            "opening": f"Our {said} has gone cold and shows a code. Can you get it going again with me? And if there is a part that it ought to have, please order it, and enter the call in your records once it runs.",
            "knows": [
                f"Your address is {address}.", f"You think that your heating is a {said}, but the plate is right.",
                f"Your house has {_floors(floors)}, and the cellar is heated as well.",
            ],
            "script": {"answers": heating_answers(address, floors)},
        },
        "reference": [{"turns": turns}],
        "milestones": [
            {"id": "runs", "table": "heating", "updates": {"code": "RUN", "tenths": full}},
            {"id": "ordered", "table": "part_order", "adds": {"serial": mine["serial"], "part": parts["new"]}},
            {"id": "recorded", "table": "service_record", "adds": {"serial": mine["serial"], "code": code, "tenths": full}},
        ],
    }  # fmt: skip


def _floors(heated: int) -> str:
    """Floors without the cellar, in words."""
    return "one floor" if heated == 2 else f"{COUNTED[heated - 1]} floors"


def pressing(sequence: list[str]) -> str:
    """Words that ask for a sequence of keys."""
    return f"Please press {', then '.join(sequence)}."


def key_sequence(draw: Draw, wires: list[str]) -> list[str]:
    """Four different keys, among them those that are crossed or were said to be."""
    found = [*wires, draw.choice([key for key in KEYS if key not in wires])]
    draw.shuffle(found)
    return found


def _as_wired(sequence: list[str], crossed: tuple[str, str]) -> list[str]:
    other = dict(zip(crossed, reversed(crossed), strict=True))
    return [other.get(key, key) for key in sequence]


def heating_answers(address: str, floors: int) -> list[dict[str, Any]]:
    """What the owner says and does when asked."""
    return [
        {"about": ["display", "screen"], "does": "read_display", "say": "The display shows {read_display}."},
        {"about": ["plate", "serial number", "label"], "does": "read_plate", "say": "The plate says: {read_plate}."},
        {"about": ["firmware"], "does": "read_firmware", "say": "The firmware is {read_firmware}."},
        {"about": ["gauge"], "does": "read_gauge", "say": "The gauge says {read_gauge}."},
        {"about": ["address", "street", "where you live"], "say": f"It is {address}."},
        {"about": ["floor", "floors", "storeys", "stories"], "say": f"We have {_floors(floors)}, and the cellar is heated as well."},
        *({"about": [key], "does": {"act": "press", "arguments": {"button": key}}, "say": f"I pressed {key}, now it shows {{press}}."} for key in KEYS),
        *(
            {"about": [f"{number} quarter", f"{word} quarter"], "does": {"act": "turn_valve", "arguments": {"quarters": number}}, "say": f"I turned it by {word}, the gauge says {{turn_valve}}."}
            for number, word in enumerate(COUNTED)
            if number
        ),
    ]  # fmt: skip


def heating_register(
    draw: Draw, model: str, count: int
) -> tuple[dict[str, dict[str, Any]], dict[str, Any], str, str]:  # fmt: skip
    """The register, the caller's heating, its plate and its address; only the address tells it from its twin."""
    head, tail = draw.randrange(3, 8), f"{draw.randrange(10, 99)}{draw.randrange(10, 99)}"
    figures = draw.sample(range(10), 4)
    street, (one, two) = draw.choice(STREETS), draw.sample(range(1, 10), 2)
    addresses = [f"{one}{two} {street}", f"{two}{one} {street}"]
    other = f"{model[:3]}S" if len(model) == 3 else model[:3]

    def unit(figure: int, name: str, address: str, board: str, filling: str) -> dict[str, Any]:
        serial = f"HK-{head}{figure}{tail}"
        return {"serial": serial, "model": name, "board": board, "address": address, "built": str(draw.randrange(2021, 2026)), "filling": filling}  # fmt: skip

    mine = unit(figures[0], model, addresses[0], "C", "glycol")
    rows = [
        mine,
        unit(figures[1], model, addresses[1], "B", "water"),
        unit(figures[2], other, f"{draw.randrange(100, 190)} {street}", "A", "water"),
        unit(figures[3], other, f"{draw.randrange(200, 290)} {draw.choice(STREETS)}", "B", "glycol"),
    ]
    numbers = draw.sample(range(10_000, 99_999), count)
    rows += [
        {"serial": f"HK-{9 if str(number).endswith(tail) else ''}{number}", "model": draw.choice(MODELS), "board": draw.choice("ABC"),
         "address": f"{draw.randrange(1, 99)} {draw.choice(STREETS)}", "built": str(draw.randrange(2015, 2026)), "filling": draw.choice(("water", "glycol"))}
        for number in numbers if not str(number).endswith(tail)
    ]  # fmt: skip
    draw.shuffle(rows)
    return {f"unit_{place}": row for place, row in enumerate(rows)}, mine, f"HK-{head}?{tail}", addresses[0]


def heating_pages(
    listed: Sequence[tuple[str, str]], pages: Mapping[tuple[str, str], list[str]]
) -> dict[str, dict[str, Any]]:
    """A manual of these pages, titles first, and those with the keys of each model, in the order of their titles."""
    every = [*listed]
    for name in MODELS:
        old, new, start = (", ".join(pages[name, kind]) for kind in ("old", "new", "start"))
        every += [
            (f"Unlocking the {name}, firmware up to 3.9", f"Keys in this order: {old}."),
            (f"Unlocking the {name}, firmware 3.10 and later", f"Keys in this order: {new}."),
            (f"Starting the {name}", f"Once it is filled: keys in this order: {start}."),
        ]
    return {f"page_{place}": {"number": f"P-{place}", "title": title, "body": body} for place, (title, body) in enumerate(sorted(every), 1)}  # fmt: skip


def heating_bulletins(listed: Iterable[tuple[int, str, str]], today: date) -> dict[str, dict[str, Any]]:
    """Bulletins, each told by its age in days, its subject and its text; the oldest has the lowest number."""
    return {
        f"bulletin_{place}": {"number": f"B-{100 + place}", "day": day(today, -ago), "subject": subject, "body": body}
        for place, (ago, subject, body) in enumerate(sorted(listed, key=lambda one: -one[0]), 1)
    }


def _manual(pages: Mapping[tuple[str, str], list[str]]) -> dict[str, dict[str, Any]]:
    listed = [
        ("Filling", "A heating starts at one pressure only: 1.0 bar where it heats one floor, and 0.2 bar more for each floor beyond; a cellar counts as a floor if it is heated. A quarter turn of the valve lets in 0.2 bar. Water cannot be let out again, and above 3.0 bar the relief valve opens."),
        ("Glycol", "A heating that the register has with the filling glycol starts at 0.2 bar more than the page on filling says."),
        ("Order of work", f"First unlock: then the display shows {AFTER}. Then fill. Then start. A sequence that is not right counts as wrong, and the third wrong one locks the heating for good."),
        ("Boilers of others", "We do not advise on boilers of other makers."),
        ("Visits", "A visit takes two hours and is paid by the owner unless the warranty says otherwise."),
        ("Cleaning", "The cover is wiped with a damp cloth. No solvents."),
    ]  # fmt: skip
    return heating_pages(listed, pages)


def _bulletins(
    draw: Draw, today: date, crossed: tuple[str, str], mistaken: tuple[str, str], parts: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    def swap(keys: tuple[str, str]) -> str:
        first, second = sorted(keys)
        return f"{first} and {second} are wired the wrong way round: where the manual says one of them, have the other one pressed"

    listed = [
        (draw.randrange(200, 300), "Keys", f"On boards of revision C the keys {swap(mistaken)}. That goes for all sequences."),
        (draw.randrange(60, 190), "Keys again", f"We were mistaken in our bulletin on keys, which no longer holds. The keys {swap(crossed)}. Still boards of revision C alone."),
        (draw.randrange(200, 300), "Timers", f"The timer of boards of revision C with firmware up to 3.11 fails sooner or later. Order a {parts['old']} for each such heating whose owner calls."),
        (draw.randrange(20, 190), "New timers", f"For heatings built in 2021 or later the {parts['old']} does not fit; what was said of it goes for the {parts['new']} there."),
        *((draw.randrange(5, 400), subject, body) for subject, body in CHATTER),
    ]  # fmt: skip
    return heating_bulletins(listed, today)
