"""Solver of ``cold_heating``."""

import re
from collections.abc import Iterator

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def version(text: str) -> tuple[int, ...]:
    """Version of a firmware, so that 3.10 is later than 3.9."""
    return tuple(map(int, text.split(".")))


class Papers(Desk):
    """Manual and bulletins."""

    def page(self, title: str) -> str:
        """Text of the page of this title."""
        [page] = [row for row in self.all("list_manual", text=title) if row["title"] == title]
        return self.call("read_manual", number=page["number"])["body"]

    def bulletins(self, text: str) -> Iterator[Row]:
        """Bulletins with a text, the newest first."""
        for row in reversed(list(self.all("list_bulletins", text=text))):
            yield self.call("read_bulletin", number=row["number"])


def unit_of(papers: Papers, plate: str, address: str) -> Row:
    """Unit of the register that a plate and an address fit."""
    model, head, tail = found(r"Model (\w+), serial (HK-\d*)\?(\d+)\.", plate)
    found_units = papers.all("find_units", serial=tail, model=model)
    fitting = [unit for unit in found_units if re.fullmatch(rf"{head}\d{tail}", unit["serial"])]
    units = [unit for unit in fitting if unit["address"] == address]
    if len(units) != 1:
        raise Unsolved(f"which of {units} is at {address}?")
    return units[0]


@solves("cold_heating")
def cold_heating(session: Session) -> None:
    """Guide the caller, order what the maker's rules give, and record the call."""
    papers = Papers(session)
    display = papers.say("What does the display show?")
    plate = papers.say("What does the plate say?")
    firmware = found(r"(\d+\.\d+)", papers.say("Which firmware does it have?"))[0]
    bar = float(found(r"(\d+\.\d) bar", papers.say("What does the gauge say?"))[0])
    house = papers.say("How many floors does it heat?")
    address = found(r"It is (.+)\.", papers.say("What is your address?"))[0]
    unit = unit_of(papers, plate, address)
    model = unit["model"]
    kind = "firmware 3.10 and later" if version(firmware) >= (3, 10) else "firmware up to 3.9"
    order = papers.page("Order of work")
    if "First unlock" not in order or "Then fill. Then start." not in order:
        raise Unsolved(order)
    swapped: dict[str, str] = {}
    if unit["board"] == "C":
        newest = next(papers.bulletins("wired the wrong way round"))["body"]
        one, other = found(r"The keys (F\d) and (F\d) are wired the wrong way round", newest)
        swapped = {one: other, other: one}

    def press(title: str) -> str:
        keys = found(r"(F\d), (F\d), (F\d), (F\d)\.", papers.page(title))
        return papers.say(f"Please press {', then '.join(swapped.get(key, key) for key in keys)}.")

    (code,) = found(r"(E-\d\d)", display)
    if "E-60" not in press(f"Unlocking the {model}, {kind}"):
        raise Unsolved("it was not unlocked")
    filling = papers.page("Filling")
    base, more, quarter = found(r"only: (\d\.\d) bar .* (\d\.\d) bar more .* lets in (\d\.\d) bar", filling)
    (word,) = found(r"We have (\w+) floors?, and the cellar is heated as well", house)
    wanted = float(base) + float(more) * NUMBERS.index(word)
    if unit["filling"] == "glycol":
        wanted += float(found(r"starts at (\d\.\d) bar more", papers.page("Glycol"))[0])
    turns = round((wanted - bar) / float(quarter))
    if f"{wanted:.1f} bar" not in papers.say(f"Please turn the valve by {NUMBERS[turns]} quarter turns."):
        raise Unsolved("it was filled wrong")
    if "RUN" not in press(f"Starting the {model}"):
        raise Unsolved("it does not run")
    timers = {bulletin["subject"]: bulletin["body"] for bulletin in papers.bulletins("T-")}
    until, part = found(r"revision C with firmware up to (\d+\.\d+) .* Order a (T-\d+) for each", timers["Timers"])
    built, old, new = found(r"built in (\d+) or later the (T-\d+) .* goes for the (T-\d+) there", timers["New timers"])
    if unit["board"] == "C" and version(firmware) <= version(until):
        late = int(unit["built"]) >= int(built) and part == old
        papers.call("order_part", serial=unit["serial"], part=new if late else part)
    papers.call("record_service", serial=unit["serial"], code=code, tenths=round(wanted * 10))
