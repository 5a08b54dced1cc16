"""Somebody asks to be forgotten: find all cards of one person among hundreds, and do with each what the rules ask.

What makes it hard: cards that only telephone numbers and addresses tie together, in chains and in several ways of writing,
namesakes and shared lines that tie nobody, rules about years, people who may not decide, and a mail that brings more.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.papers import day
from sandbox_scenarios.hard.story import Story, call

TOWNS = ("Plau", "Waren", "Lychen", "Templin", "Teterow", "Malchow", "Rheinsberg")
NICKNAMES = ("sunny", "oakhill", "tinker", "chess", "northwind", "paddle", "lark", "office", "home", "marmalade")
HOSTS = ("post.example", "mail.example", "inbox.example", "letters.example")
YEARS = 8
"""Years for which a bill is kept, after that in which it was written."""


def forget_person(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; the size ``others`` is how many cards other people have."""
    story = Story(draw, date(2027, 6, 1 + draw.randrange(28)))
    first, last, married = draw.word("woman"), draw.word("last"), draw.word("last")
    staff = story.staff(
        officer="data protection officer", counsel="legal counsel", selling="head of sales", clerk="clerk"
    )
    people = _Cards(story)
    a, b, c, d, e = (people.mail(first, last) for _ in range(5))
    one, two, three, shared = (people.phone() for _ in range(4))
    ours = {
        "named": people.card(f"{first} {last}", a, one),
        "initial": people.card(f"{first[0]}. {last}", b.upper(), one),
        "married": people.card(f"{first} {married}", b, two),
        "firm": people.card(f"{married} Textiles", c, two),
        "claimed": people.card(f"{first} {married}", c, shared),
        "later": people.card(f"{first[0]}. {married}", d, three),
        "latest": people.card(f"Studio {married}", e, three),
    }  # fmt: skip
    for namesake in (f"{first} {last}", f"{first} {married}", f"{first[0]}. {last}"):
        people.card(namesake, people.mail(first, last), people.phone())
    people.card(f"{draw.word('man')} {last}", people.mail(last, first), shared)
    people.card(f"{draw.word('woman')} {married}", people.mail(married, first), shared)
    year = story.today.year
    bills = {
        "named": [year - YEARS - 1, year - YEARS - 3], "initial": [year - YEARS], "married": [year - YEARS - 2],
        "firm": [year - 2, year - 9], "claimed": [year - 12], "later": [], "latest": [year - YEARS],
    }  # fmt: skip
    for kind, years in bills.items():
        for of in years:
            on = f"{of}-{'12' if of < year - YEARS else '01'}-{draw.randrange(10, 29)}"
            people.deal(ours[kind], "bill", on)
        for _ in range(draw.randrange(1, 4)):
            people.deal(ours[kind], draw.choice(("offer", "call")), day(story.today, -draw.randrange(20, 900)))
    names = [(draw.choice(people.firsts), draw.choice(people.lasts)) for _ in range(size["others"])]
    for given, family in names:
        card = people.card(f"{given} {family}", people.mail(given, family), people.phone())
        for _ in range(draw.randrange(2)):
            people.deal(card, draw.choice(("offer", "bill", "call")), day(story.today, -draw.randrange(20, 4000)))
    story.shuffled("card", "deal")
    story.note(ours["claimed"], -20, staff["counsel"], "There is a claim about the last delivery. Leave this as it is until I say so.")  # fmt: skip
    story.note(ours["married"], -9, staff["selling"], "One of our best. Leave this as it is until I say so.")
    story.page(
        "Whose cards",
        "Cards with the same mail address or the same telephone number are of one person, and so are those that share one with these, and so on. Capitals, spaces, a zero or a country code in front make no difference. A name proves nothing, in either way.",
    )
    story.page("Shared lines", "Receptions and switchboards tie nobody together. Those we know of are told by mail.")
    story.page(
        "Being forgotten",
        f"Who asks for it is erased: every card of theirs. A card with a bill that we still have to keep is blocked instead. A bill is kept for {YEARS} years, which begin when the year in which it was written is over. Offers and calls need not be kept.",
    )
    story.page(
        "Claims",
        "Where there is a claim a card stays as it is, untouched; whether there is one is decided by the legal counsel, in a note on the card. Otherwise nobody's leave is needed.",
    )
    story.mail(-60, staff["clerk"], "Switchboards", f"The line {people.written(shared)} is the switchboard of the business park, half the town has given it to us.")  # fmt: skip
    told = {
        "number": "M-190", "day": day(story.today), "sender": staff["officer"], "subject": f"{first} {last}",
        "body": f"She has just called: she also wrote to us from {d}. Please include that.",
    }  # fmt: skip
    outcomes = {
        "named": "erased", "initial": "blocked", "married": "erased", "firm": "blocked", "later": "erased", "latest": "blocked",
    }  # fmt: skip
    deeds = [
        call("erase_card" if outcome == "erased" else "block_card", card=ours[kind])
        for kind, outcome in outcomes.items()
    ]  # fmt: skip
    searches = [
        call("list_cards", mail=a), call("list_cards", phone=one[-7:]), call("list_cards", mail=b),
        call("list_cards", phone=two[-7:]), call("list_cards", mail=c),
    ]  # fmt: skip
    again = [call("read_mail", number="M-190"), call("list_cards", mail=d), call("list_cards", phone=three[-7:]), call("list_cards", mail=e)]  # fmt: skip
    deals = {kind: call("list_deals", card=number) for kind, number in ours.items()}
    calls = [
        *story.papers(list(staff.values())), *searches, call("list_employees"), call("search_notes", text="Leave this"),
        *(deals[kind] for kind in ("named", "initial", "married", "firm")), *deeds[:4],
        *again, deals["later"], deals["latest"], *deeds[4:],
    ]  # fmt: skip
    return story.entry(
        (
            f"You want {first} {last}, whose address is {a}, forgotten by the firm, by its rules, with all that comes up meanwhile.",
            f"{first} {last} has asked us to forget her. She wrote from {a}. Please see to it with all cards of hers, as our rules have it, and mind what may come in from the data protection officer while you are at it.",
        ),
        [{"calls": calls, "reply": f"{first} {last} is forgotten, as far as our rules allow."}],
        [("updates", "card", {"number": ours[kind], "status": outcome}) for kind, outcome in outcomes.items()],
        events=[
            {"id": "call", "when": {"table": "card", "has": {"status": "erased"}}, "adds": {"mail": {"told": told}}, "notice": f"A new mail from {staff['officer']} has come."}
        ],
    )  # fmt: skip


class _Cards:
    """Cards and deals, with addresses and numbers that nobody else has."""

    def __init__(self, story: Story) -> None:
        self.story, draw = story, story.draw
        self.firsts = [draw.word(kind) for kind in ("woman", "man") for _ in range(14)]
        self.lasts = [draw.word("last") for _ in range(20)]
        self._lines = draw.sample(range(1000, 9999), 1200)
        self._boxes = draw.sample(range(10, 9999), 1200)

    def mail(self, one: str, other: str) -> str:
        """An address in one of the forms that people choose; few of them tell whose it is."""
        draw, box = self.story.draw, self._boxes.pop()
        made = draw.choice(
            (f"{one[:3]}{other[:3]}", f"{other[0]}.{one[:2]}", draw.choice(NICKNAMES), draw.choice(NICKNAMES))
        )
        return f"{made}{box}".lower() + f"@{draw.choice(HOSTS)}"

    def phone(self) -> str:
        """A number, as digits after the country code."""
        return f"381555{self._lines.pop()}"

    def written(self, number: str) -> str:
        """A number in one of the ways in which people write it."""
        area, rest = number[:3], number[3:]
        ways = (f"+49 {area} {rest}", f"0{area}/{rest}", f"(0{area}) {rest[:3]} {rest[3:]}", f"0049{area}{rest[:3]}-{rest[3:5]} {rest[5:]}", f"0{area} {rest[:2]} {rest[2:4]} {rest[4:]}")  # fmt: skip
        return self.story.draw.choice(ways)

    def card(self, name: str, mail: str, phone: str) -> str:
        """A card, by its number."""
        number = self.story.number("D")
        self.story.add("card", number=number, name=name, mail=mail, phone=self.written(phone), town=self.story.draw.choice(TOWNS))  # fmt: skip
        return number

    def deal(self, card: str, kind: str, on: str) -> None:
        """Something that was dealt."""
        self.story.add("deal", number=self.story.number("E"), card=card, day=on, kind=kind)
