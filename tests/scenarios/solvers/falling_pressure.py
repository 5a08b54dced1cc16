"""Solver of ``falling_pressure``."""

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.cold_heating import NUMBERS, Papers, unit_of, version
from tests.scenarios.solvers.driver import Row, Unsolved, found, solves


def _titled(rows: list[Row], title: str) -> str:
    return next(row["number"] for row in rows if title in (row.get("title"), row.get("subject")))


@solves("falling_pressure")
def falling_pressure(session: Session) -> None:  # noqa: C901  (one story, from top to bottom)
    """Unlock, fill until the pressure stays or has fallen too often, and start or order."""
    papers = Papers(session)
    wish = papers.say("Of course. What is it?")
    (left,) = found(r"it lasts for (\d+) look-ups", wish)
    code = found(r"(E-\d\d)", papers.say("What does the display show?"))[0]
    plate = papers.say("What does the plate say?")
    firmware = found(r"(\d+\.\d+)", papers.say("Which firmware does it have?"))[0]
    address = found(r"It is ([^.]+)\.", papers.say("What is your address?"))[0]
    above = found(r"and (\w+) floors? (?:is|are) above it", papers.say("How many floors are above it?"))[0]
    unit = unit_of(papers, plate, address)
    manual = list(papers.all("list_manual"))

    def page(title: str) -> str:
        return papers.call("read_manual", number=_titled(manual, title))["body"]

    def bulletin(title: str) -> str:
        return papers.call("read_bulletin", number=_titled(bulletins, title))["body"]

    def press(title: str) -> str:
        keys = found(r"(F\d), (F\d), (F\d), (F\d)\.", page(title))
        return papers.say(f"Please press {', then '.join(keys)}.")

    new = version(firmware) >= (3, 10)
    if "E-60" not in press(f"Unlocking the {unit['model']}, firmware {'3.10 and later' if new else 'up to 3.9'}"):
        raise Unsolved("it was not unlocked")
    bulletins = list(papers.all("list_bulletins"))
    base, more, quarter = found(r"only: (\d\.\d) bar, and (\d\.\d) bar more .* lets in (\d\.\d) bar", page("Pressure"))
    wanted = float(base) + float(more) * NUMBERS.index(above)
    if unit["board"] == "C":
        wanted += float(found(r"(\d\.\d) bar", bulletin("Boards again" if new else "Boards"))[0])
    if "The third time it falls" not in page("Air and leaks"):
        raise Unsolved("nothing says when it leaks")

    def gauge() -> float:
        return float(found(r"(\d+\.\d) bar", papers.say("What does the gauge say?"))[0])

    bar, falls = gauge(), -1
    while bar < wanted - 0.05 and falls < 2:
        turns = round((wanted - bar) / float(quarter))
        papers.say(f"Please turn the valve by {NUMBERS[turns]} quarter turn{'s' if turns > 1 else ''}.")
        bar, falls = gauge(), falls + 1
    if bar < wanted - 0.05:
        kits = found(
            r"The (S-\d+) is no .* take (S-\d+) for .* 2023 or later, and (S-\d+) for older", bulletin("Kits again")
        )
        old, new_kit, older = kits
        plain, special = found(r"is (S-\d+) for the K20 and the K30, and (S-\d+) for the", bulletin("Kits"))
        if plain != old:
            raise Unsolved(f"{plain} or {old}?")
        kit = special if unit["model"].endswith("S") else new_kit if int(unit["built"]) >= 2023 else older
        papers.call("order_part", serial=unit["serial"], part=kit)
    else:
        if "RUN" not in press(f"Starting the {unit['model']}"):
            raise Unsolved("it does not run")
        papers.call("record_service", serial=unit["serial"], code=code, tenths=round(wanted * 10))
    if session.calls > int(left):
        raise Unsolved("too many calls")
