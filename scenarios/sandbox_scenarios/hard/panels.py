"""A washing line's panel whose keys nobody has described: find out what they do, and set a pattern before the line starts.

What makes it hard: keys that show only by trying what they do (each turns over several lamps, others in every instance),
time for few presses until the panel locks, a pattern that a page, a mail and a note change, and a twin panel.
"""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.papers import at
from sandbox_scenarios.hard.story import Story, call

SITES = ("Harbour", "Mill Lane", "Kiln Yard", "Weir", "Chalk Pit", "Sluice")
PROGRAMS = ("Rinse", "Flush", "Soak", "Foam", "Descale", "Steam")
KEYS, LAMPS, MINUTES = "ABCDEFG", 8, 4


def panel_by_trial(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; sizes are ``panels`` and ``presses`` (how many there is time for)."""
    story = Story(draw, date(2027, 9, 1 + draw.randrange(28)))
    now = at(story.today, 6, 5 * draw.randrange(12))
    starts = now + timedelta(minutes=MINUTES * size["presses"] + 2)
    site, *elsewhere = draw.sample(SITES, len(SITES))
    program, written, *_ = programs = draw.sample(PROGRAMS, len(PROGRAMS))
    staff = story.staff(manager="works manager", fitter="fitter", water="laboratory clerk")
    wiring = _wiring(draw)
    needed = draw.sample(range(len(KEYS)), draw.randrange(3, 6))
    found = draw.randrange(1, 1 << LAMPS)
    wanted = found ^ _turned(wiring, range(len(KEYS))) ^ _turned(wiring, needed)
    hard, wrong = draw.sample(range(LAMPS), 2)
    patterns = {one: draw.randrange(1, 1 << LAMPS) for one in programs}
    patterns[written] = wanted ^ 1 << hard ^ 1 << wrong
    if patterns[program] == patterns[written]:
        patterns[program] ^= 1
    ours, red = story.numbers("P", 2)
    for number, strange in ((ours, False), (red, True), *((story.number("P"), True) for _ in range(size["panels"]))):
        story.add(
            "panel", number=number, site=site if number in (ours, red) else draw.choice(elsewhere),
            lit=_lit(draw.randrange(1, 1 << LAMPS) if strange else found), wiring=_wiring(draw) if strange else wiring,
        )  # fmt: skip
    story.shuffled("panel")
    story.note(red, -300, staff["fitter"], "Red frame fitted.")
    story.note(ours, -40, staff["fitter"], f"Lamp {wrong + 1} is fitted the wrong way round: it is lit when it means dark, and dark when it means lit.")  # fmt: skip
    for row in draw.sample([row for row in story.rows["panel"].values() if row["number"] not in (ours, red)], 14):
        text = draw.choice(("Red frame fitted.", f"Lamp {draw.randrange(1, 9)} is dim.", "Door sticks.", "Cleaned."))
        story.note(row["number"], -draw.randrange(2, 200), staff["fitter"], text)
    listed = "; ".join(f"{one}: {_lit(patterns[one])}" for one in draw.sample(programs, len(programs)))
    story.page("Programs", f"These lamps are to be lit, and no others, before a program is engaged. {listed}.")
    story.page("Water", f"Where the water is hard, lamp {hard + 1} of every program is the other way round: dark where the list says lit, and lit where it does not.")  # fmt: skip
    story.page("Frames", "Panels with a red frame belong to the water board. We press nothing on them.")
    story.page(
        "Start of the lines", f"All lines start at {starts:%H:%M}, and their panels lock at that moment, set or not."
    )
    story.mail(-3, staff["water"], "Samples", f"Hard water: {site} and {elsewhere[0]}. All the others are soft by now.")
    story.mail(
        -170, staff["water"], "Samples", f"Hard water: {elsewhere[1]} and {elsewhere[2]}. All the others are soft."
    )
    story.mail(-2, staff["manager"], "Names", f"From this week on {program} means what used to be called {written}. The list in the handbook still has the old names; panels take the new ones.")  # fmt: skip
    presses = [*range(len(KEYS)), *sorted(needed)]
    calls = [
        *story.papers(list(staff.values())),
        call("list_panels", site=site),
        call("list_notes", about=ours),
        call("list_notes", about=red),
        *(call("press_key", panel=ours, key=KEYS[key]) for key in presses),
        call("engage_panel", panel=ours, program=program),
    ]
    locked = {label: {"state": "locked"} for label in story.rows["panel"]}
    return story.entry(
        (
            f"You want {program} engaged on our panel at {site} before the lines start, with the lamps right for it.",
            f"Please get our panel at {site} ready and engage {program} on it, with the lamps as they have to be today. It has to be done before the lines start, and what is engaged stays engaged.",
        ),
        [{"calls": calls, "reply": f"{program} is engaged on {ours}."}],
        [("updates", "panel", {"number": ours, "lit": _lit(wanted), "state": "engaged", "program": program})],
        hour=(now.hour, now.minute),
        events=[
            {"id": "start", "at": starts, "when": {"table": "panel", "has": {"number": ours, "state": "idle"}}, "updates": {"panel": locked}, "notice": "The lines have started, and their panels are locked."}
        ],
    )  # fmt: skip


def _wiring(draw: Draw) -> list[int]:
    """For each key the lamps that it turns over, so that no key does what others do together."""
    while True:
        wiring = [sum(1 << lamp for lamp in draw.sample(range(LAMPS), draw.randrange(2, 5))) for _ in KEYS]
        if _rank(wiring) == len(KEYS):
            return wiring


def _rank(vectors: list[int]) -> int:
    basis: list[int] = []
    for vector in vectors:
        for one in basis:
            vector = min(vector, vector ^ one)
        if vector:
            basis.append(vector)
    return len(basis)


def _turned(wiring: list[int], keys: Iterable[int]) -> int:
    turned = 0
    for key in keys:
        turned ^= wiring[key]
    return turned


def _lit(lamps: int) -> str:
    return " ".join(str(lamp + 1) for lamp in range(LAMPS) if lamps >> lamp & 1)
