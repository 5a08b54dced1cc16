"""A mixer whose dials nobody has described: find by few samples how they work, and set what the recipe wants today.

What makes it hard: rules that are written nowhere and show only by trying (each dial moves all three readings, another
way in every instance), few samples, a recipe that notes and mails change, and a twin mixer that is not to be touched.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.papers import DeskRows, at, day, handbook, mailbox, reading

COLOURS = ("red", "green", "blue")
PAINTS = ("Harbour grey", "Gorse yellow", "Slate blue", "Brick red", "Reed green", "Dusk violet")
HALLS = ("north", "south", "east")
WINTER = (11, 12, 1, 2, 3)
Marks = tuple[int, int, int]


def mixer_by_trial(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; the size ``samples`` is how many a mixer gives."""
    today = date(2027, draw.choice((3, 4, 10, 11)), 1 + draw.randrange(27))
    recipe, *others = draw.sample(PAINTS, 4)
    hall, other_hall = draw.sample(HALLS, 2)
    people = {name: draw.person() for name in ("master", "supplier", "mixer")}
    gains, offsets = _panel(draw)
    found: Marks = (draw.randrange(5, 50), draw.randrange(5, 50), draw.randrange(5, 50))
    set_to: Marks = (draw.randrange(8, 55), draw.randrange(8, 55), draw.randrange(8, 55))
    wanted = _readings(gains, offsets, set_to)
    lot, shift = draw.choice(COLOURS), draw.randrange(4, 15)
    winter, by_winter = draw.choice([one for one in COLOURS if one != lot]), draw.randrange(3, 12)
    cold = draw.choice((hall, other_hall))
    written = [
        value
        + (shift if colour == lot else 0)
        - (by_winter if colour == winter and cold == hall and today.month in WINTER else 0)
        for colour, value in zip(COLOURS, wanted, strict=True)
    ]
    numbers = draw.sample(range(110, 990), 6)
    food, fit = draw.sample(numbers, 2)
    recipes = {
        name: written if name == recipe else [draw.randrange(150, 700) for _ in COLOURS] for name in (recipe, *others)
    }
    pages = [
        *((f"Recipe {name}", _listed(values)) for name, values in recipes.items()),
        ("Reading a sample", "A sample is right if all three of its readings are what the recipe says, with whatever applies to it today."),
        ("Unheated halls", f"From November to March a batch that stands in an unheated hall needs {by_winter} more {winter} than the recipe. The {cold} hall is unheated."),
        ("Toys", "Paint for toys is made on mixers with a green plate, and nothing else is ever made on these."),
    ]  # fmt: skip
    mails = [
        {"day": day(today, -30), "sender": people["supplier"], "subject": "Pigment", "body": f"The lot of last month is weak: add {shift + 3} {lot}. It is used up by now."},
        {"day": day(today, -2), "sender": people["supplier"], "subject": "Pigment, new lot", "body": f"From yesterday's delivery on our {lot} is strong. Take {shift} off what a recipe says."},
    ]  # fmt: skip
    book = handbook(draw, pages)
    mixers: DeskRows = {}
    for number in numbers:
        strange = _panel(draw)
        ours = number in (food, fit)
        mixers[f"x_{number}"] = {
            "number": f"X-{number}", "hall": hall if ours else other_hall,
            **dict(zip(("dial_a", "dial_b", "dial_c"), found if number == fit else [draw.randrange(5, 50) for _ in range(3)], strict=True)),
            "gains": gains if number == fit else strange[0], "offsets": offsets if number == fit else strange[1],
            "samples": size["samples"],
        }  # fmt: skip
    notes = {
        "plate": {"about": f"X-{food}", "day": day(today, -200), "author": people["master"], "text": "Has the green plate since the summer."},
        "oil": {"about": f"X-{fit}", "day": day(today, -20), "author": people["mixer"], "text": "Oiled."},
    }  # fmt: skip
    right = {
        "number": f"X-{fit}",
        "dial_a": set_to[0],
        "dial_b": set_to[1],
        "dial_c": set_to[2],
        "state": "running",
        "batch": recipe,
    }
    return {
        "clock": {"now": at(today, 7, 40), "zone": "Europe/Berlin"},
        "state": {"page": book, "mail": mailbox(draw, mails, today, list(people.values())), "note": notes, "mixer": mixers},
        "allows": {"mixer": ["samples"]},
        "user": {
            "goal": f"You want a batch of {recipe} started on the mixer in the {hall} hall that may be used for it, with the dials right for today.",
            "opening": f"Please start a batch of {recipe} in the {hall} hall. It has to be exactly right for today, because it cannot be mended once it runs.",
        },
        "reference": [{"turns": [_solution(f"X-{fit}", hall, recipe, found, set_to, reading(book, [pages[0], *pages[4:]]))]}],
        "milestones": [{"id": "started", "table": "mixer", "updates": right}],
    }  # fmt: skip


def _panel(draw: Draw) -> tuple[list[int], list[int]]:
    """Gains that let the dials be found from the readings, and in which no dial is one colour's."""
    while True:
        gains = [draw.choice((-3, -2, -1, 1, 2, 3, 4, 5)) for _ in range(9)]
        if abs(_determinant(gains)) >= 8:
            return gains, [draw.randrange(200, 400) for _ in COLOURS]


def _determinant(gains: list[int]) -> int:
    a, b, c, d, e, f, g, h, i = gains
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def _readings(gains: list[int], offsets: list[int], marks: Marks) -> list[int]:
    return [
        offset + sum(gains[3 * row + dial] * marks[dial] for dial in range(3)) for row, offset in enumerate(offsets)
    ]


def _listed(values: list[int]) -> str:
    return (
        "A sample reads " + ", ".join(f"{colour} {value}" for colour, value in zip(COLOURS, values, strict=True)) + "."
    )


def _solution(
    mixer: str, hall: str, recipe: str, found: Marks, set_to: Marks, papers: list[dict[str, Any]]
) -> dict[str, Any]:
    """Look, try each dial by itself, and set what follows."""

    def dials(marks: Marks) -> dict[str, Any]:
        return {
            "tool": "set_dials",
            "arguments": {"mixer": mixer, **dict(zip(("dial_a", "dial_b", "dial_c"), marks, strict=True))},
        }

    sample = {"tool": "take_sample", "arguments": {"mixer": mixer}}
    tries: list[dict[str, Any]] = [sample]
    for dial in range(3):
        a, b, c = (mark + (place == dial) for place, mark in enumerate(found))
        tries += [dials((a, b, c)), sample]
    looks = [
        {"tool": "list_mixers", "arguments": {"hall": hall}},
        {"tool": "search_notes", "arguments": {"text": ""}},
        {"tool": "search_mails", "arguments": {"text": "pigment"}},
    ]
    start = {"tool": "start_batch", "arguments": {"mixer": mixer, "recipe": recipe}}
    return {
        "calls": [*papers, *looks, *tries, dials(set_to), sample, start],
        "reply": f"The batch of {recipe} runs on {mixer}.",
    }
