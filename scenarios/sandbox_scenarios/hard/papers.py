"""Parts that families of the desk share: people, days, and papers among others that have nothing to do with the wish."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sandbox_scenarios.generating import Draw

DeskRows = dict[str, dict[str, Any]]
MATTERS = (
    ("Visitors", "Visitors sign the book at the gate and are fetched by whom they visit. They wear a badge at all times."),
    ("Keys", "Keys of vans hang behind the door of the yard's office. Who takes one writes name and hour on the board."),
    ("Printers", "The printer in the corridor takes A3. Toner is in the cupboard below; the last packet is to be reported."),
    ("Parking", "The places by the wall are for customers. Staff park behind the hall, and vans with their nose outwards."),
    ("First aid", "The boxes are beside the doors to both halls. What was taken is written on the card inside the lid."),
    ("Holidays", "Holidays are asked for at least three weeks ahead. Who shares a desk may not be away in the same week."),
    ("Telephones", "Calls outside office hours go to the duty number. Whoever is on duty calls back within the hour."),
    ("Waste", "Metal goes into the blue skip and wood into the green one. Mixed loads are refused at the gate."),
    ("Heating", "The hall is heated from October on. Doors stay shut while the heating runs, also during deliveries."),
    ("Samples for show", "Show pieces are lent for two weeks against a signature. Broken ones are paid for by the borrower."),
    ("Tools on loan", "Tools on loan are checked on return. Batteries are charged overnight and never in a van."),
    ("Post", "The post is taken to the counter at four. Parcels above ten kilos wait at the gate for the carrier."),
)  # fmt: skip
TALK = (
    ("Lunch on Thursday", "We are eight so far. Who else joins? I will book the table by the window."),
    ("Lost umbrella", "A black one with a wooden handle, left in the meeting room last week. It is at the gate now."),
    ("New coffee machine", "It arrives on Monday. Until then please use the one upstairs, and clean it after use."),
    ("Car wash", "The vans are washed on Friday from three on. Please empty them before that."),
    ("Fire drill", "There will be a drill this month. Leave everything where it is and meet at the flagpole."),
    ("Thank you", "Many thanks for the flowers, they were lovely. I am back at half days for now."),
    ("Photographs", "The pictures of the summer party are on the board. Tell me which ones you would like to have."),
    ("Old catalogues", "We throw the old catalogues away next week. Whoever needs one should take it now."),
)  # fmt: skip


def day(of: date, later: int = 0) -> str:
    """A day as the desk writes it, some days later."""
    return (of + timedelta(days=later)).isoformat()


def at(of: date, hour: int, minute: int) -> datetime:
    """A moment of a day."""
    return datetime(of.year, of.month, of.day, hour, minute)  # noqa: DTZ001  (wall time of the scenario's zone)


def handbook(draw: Draw, pages: Sequence[tuple[str, str]]) -> DeskRows:
    """These pages, title and text, in any order among others that say nothing of the matter."""
    listed = [*pages, *MATTERS]
    draw.shuffle(listed)
    return {
        f"page_{place}": {"number": f"H-{place}", "title": title, "body": body}
        for place, (title, body) in enumerate(listed, 1)
    }


def mailbox(draw: Draw, mails: Iterable[Mapping[str, str]], today: date, people: Sequence[str]) -> DeskRows:
    """These mails (``day``, ``sender``, ``subject``, ``body``) among others, numbered by day."""
    talk = [
        {"day": day(today, -draw.randrange(2, 60)), "sender": draw.choice(people), "subject": subject, "body": body}
        for subject, body in TALK
    ]
    ordered = sorted([*mails, *talk], key=lambda mail: mail["day"])
    return {f"mail_{place}": {"number": f"M-{100 + place}", **mail} for place, mail in enumerate(ordered, 1)}


def euros(cents: int) -> str:
    """An amount as people write it."""
    return f"{cents // 100:,}.{cents % 100:02d} euros" if cents % 100 else f"{cents // 100:,} euros"


def reading(pages: DeskRows, wanted: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Calls that list the handbook and read these pages of it."""
    numbers = {row["title"]: row["number"] for row in pages.values()}
    lists: list[dict[str, Any]] = [{"tool": "list_handbook", "arguments": {}}]
    return [*lists, *({"tool": "read_handbook", "arguments": {"number": numbers[title]}} for title, _ in wanted)]
