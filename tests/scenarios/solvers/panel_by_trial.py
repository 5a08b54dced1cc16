"""A panel whose keys nobody has described, by what the tools tell."""

from itertools import combinations

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves

KEYS = "ABCDEFG"
Lamps = frozenset[int]


@solves("panel_by_trial")
def panel_by_trial(session: Session) -> None:
    """Learn what keys do, set the lamps and engage the program."""
    desk = Desk(session)
    site, program = found(r"our panel at ([\w ]+) ready and engage (\w+) on it", desk.wish)
    desk.rule(
        "These lamps are to be lit, and no others, before a program is engaged.",
        "Panels with a red frame belong to the water board. We press nothing on them.",
    )
    panels: list[tuple[Row, list[str]]] = []
    for panel in desk.all("list_panels", site=site):
        notes = [note["text"] for note in desk.all("list_notes", about=panel["number"])]
        if "Red frame fitted." not in notes:
            panels.append((panel, notes))
    if len(panels) != 1:
        raise Unsolved(f"which of {panels}?")
    [(panel, notes)] = panels
    wanted = _wanted(desk, site, program)
    for note in notes:
        if "the wrong way round" in note:
            (lamp,) = found(r"^Lamp (\d) is fitted the wrong way round: it is lit when it means dark", note)
            wanted ^= {int(lamp)}
    now, turned = _lamps(panel["lit"]), list[Lamps]()
    for key in KEYS:
        shown = _lamps(desk.call("press_key", panel=panel["number"], key=key)["lit"])
        turned.append(now ^ shown)
        now = shown
    ways = [keys for many in range(8) for keys in combinations(range(7), many) if _all(turned, keys) == now ^ wanted]
    for key in ways[0]:
        now = _lamps(desk.call("press_key", panel=panel["number"], key=KEYS[key])["lit"])
    if now != wanted:
        raise Unsolved("keys do not do the same everywhere")
    desk.call("engage_panel", panel=panel["number"], program=program)


def _wanted(desk: Desk, site: str, program: str) -> Lamps:
    """Lamps that the list says, by the names of today, with hard water heeded."""
    for mail in desk.mails("used to be called"):
        new, old = found(r"(\w+) means what used to be called (\w+)\.", mail["body"])
        program = old if program == new else program
    [page] = desk.pages("These lamps are to be lit")
    (listed,) = found(rf"{program}: ([\d ]*)[;.]", page["body"])
    hard = desk.mails("Hard water")[-1]["body"]
    sites = found(r"^Hard water: (.*)\. All the others are soft", hard)[0].split(" and ")
    [page] = desk.pages("Where the water is hard")
    (lamp,) = found(r"lamp (\d) of every program is the other way round", page["body"])
    return _lamps(listed) ^ (frozenset({int(lamp)}) if site in sites else frozenset[int]())


def _lamps(text: str) -> Lamps:
    return frozenset(map(int, text.split()))


def _all(turned: list[Lamps], keys: tuple[int, ...]) -> Lamps:
    """Lamps that keys turn over together."""
    lamps: Lamps = frozenset()
    for key in keys:
        lamps ^= turned[key]
    return lamps
