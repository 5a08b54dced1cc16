"""New numbers: an address book brought in line with what people texted of their numbers.

What makes it hard: chains of numbers of which each vouches for the next, near-duplicates, words of people who may not
say, numbers that are taken back, all among other texts, and one more number once the work has begun.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.story import call
from sandbox_scenarios.pools import POOLS

KINDS = ("own", "own", "own", "chain", "chain", "chain", "back", "back", "stranger", "stranger", "other", "other", "twin", "twin", "twin")  # fmt: skip
ME = "+447700900001"
CHATTER = (
    "Are you coming on Sunday?", "Happy birthday!", "The tickets are at the door.", "Can you lend me your ladder?", "I am on the train.",
    "Dinner at ours on Friday?", "The number of the bus is 42 now.", "We won!", "Call me when you can.", "Thanks for yesterday.",
)  # fmt: skip


def new_numbers(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; ``others`` are in the address book besides, and ``chatter`` texts say nothing of numbers."""
    now = datetime(2027, 2, 1, 9, 0) + timedelta(days=draw.randrange(200))  # noqa: DTZ001  (wall time of the phone)
    firsts = draw.sample((*POOLS["woman"], *POOLS["man"]), len(KINDS) + size["others"] + 1)
    lasts = [draw.choice(POOLS["last"]) for _ in firsts]
    names = [f"{first} {last}" for first, last in zip(firsts, lasts, strict=True)]
    numbers = [f"+447700900{number}" for number in draw.sample(range(100, 999), 4 * len(KINDS) + size["others"])]
    people: dict[str, dict[str, Any]] = {}
    texts: list[tuple[int, str, str]] = []
    right: dict[str, str | None] = {}

    def enter(label: str, name: str, number: str) -> None:
        relationship = draw.choice(("friend", "colleague", "neighbour", "cousin"))
        people[label] = {"name": name, "phone_number": number, "relationship": relationship, "is_self": False}

    late = ("", "")
    for place, kind in enumerate(KINDS):
        label, name = f"{kind}_{place}", names[place]
        first, second, third, fourth = (numbers.pop() for _ in range(4))
        enter(label, name, first)
        told = draw.choice(("My number is {} from now on.", "Please use {} for me, I have changed my number.", "New number: {}. This one goes off today."))  # fmt: skip
        old, new = draw.randrange(20_000, 60_000), draw.randrange(100, 19_000)
        if kind == "own":
            texts.append((new, first, told.format(second)))
            right[label] = second
        elif kind == "chain":
            texts += [(old, first, told.format(second)), (new, second, f"It is {name} again. {told.format(third)}")]
            right[label] = third
            late = (label, fourth) if place == KINDS.index("chain") else late
        elif kind == "back":
            texts += [(old, first, told.format(second)), (new, second, f"{name} here. Scrap that, I keep my old number.")]  # fmt: skip
        elif kind == "stranger":
            texts.append((new, second, f"Hi, this is {name}. {told.format(second)}"))
        elif kind == "other":
            texts.append(
                (new, people["own_0"]["phone_number"], f"By the way, {name} has a new number, it is {second}.")
            )
        else:
            enter(f"double_{place}", name, second)
            texts.append((new, first, f"I do not use this number any more, only {second}."))
            right[label] = None
    for place in range(size["others"]):
        enter(f"friend_{place}", names[len(KINDS) + place], numbers.pop())
    known = {row["phone_number"]: label for label, row in people.items()}
    texts += [(draw.randrange(60, 60_000), draw.choice(list(known)), draw.choice(CHATTER)) for _ in range(size["chatter"])]  # fmt: skip
    draw.shuffle(texts)
    order = list(people)
    draw.shuffle(order)
    people = {label: people[label] for label in order}
    before, right[late[0]] = str(right[late[0]]), late[1]
    own = next(label for label in right if label.startswith("own"))
    people["me"] = {"name": names[-1], "phone_number": ME, "relationship": "self", "is_self": True}
    arrives = _text(before, None, now, f"{people[late[0]]['name']} once more, sorry: this phone is broken. My number is {late[1]} from now on, for good.")  # fmt: skip
    return {
        "clock": {"now": now, "zone": "Europe/London"},
        "state": {
            "setting": {"wifi": True, "cellular": True, "location_service": True, "low_battery_mode": False, "latitude": 51.4545, "longitude": -2.5879},
            "contact": people,
            "messaging": {f"text_{place}": _text(number, known.get(number), now - timedelta(minutes=ago), words) for place, (ago, number, words) in enumerate(texts)},
        },
        "events": [
            {
                "id": "once_more",
                "when": {"table": "contact", "has": {"person_id": f"@contact.{own}", "phone_number": right[own]}},
                "adds": {"messaging": {"late": arrives}},
                "notice": f"A new text message has come from {before}.",
            }
        ],
        "user": {
            "goal": "You want the numbers in your address book to be those that people use now, as they told you themselves.",
            "opening": (
                "People keep texting me new numbers. Please bring my contacts up to date. A number counts only if the person told me so themself, from the number that I have for "
                "them or from one that they had told me of in that way; their last word holds. Who is in there twice stays with the number that they use, and the other entry goes. "
                "If anything new comes in while you are at it, see to that as well. Nobody needs an answer."
            ),
        },
        "reference": [{"turns": [_solution(people, right, before, own)]}],
        "milestones": [
            {"id": label, "table": "contact", "removes": {"person_id": f"@contact.{label}"}}
            if number is None
            else {"id": label, "table": "contact", "updates": {"person_id": f"@contact.{label}", "phone_number": number}}
            for label, number in right.items()
        ],
    }  # fmt: skip


def _text(number: str, person: str | None, when: datetime, words: str) -> dict[str, Any]:
    return {
        "sender_person_id": f"@contact.{person}" if person else None, "sender_phone_number": number,
        "recipient_person_id": "@contact.me", "recipient_phone_number": ME, "content": words, "creation_timestamp": when,
    }  # fmt: skip


def _solution(people: Mapping[str, Any], right: Mapping[str, str | None], before: str, own: str) -> dict[str, Any]:
    listed = list(people)

    def entry(label: str) -> str:
        return f"$people.{listed.index(label)}.person_id"

    def deed(label: str) -> dict[str, Any]:
        if right[label] is None:
            return call("remove_contact", person_id=entry(label))
        return call("modify_contact", person_id=entry(label), phone_number=right[label])

    looks = [{**call("search_contacts"), "as": "people"}, call("search_messages")]
    newest = call("search_messages", sender_phone_number=before)
    rest = [deed(label) for label in right if label != own]
    return {"calls": [*looks, deed(own), newest, *rest], "reply": "Your contacts are up to date."}
