"""A rota over a long conversation: three weeks of duties, filled one after the other by what was said on the way.

What makes it hard: memory (a promise of the first message decides in the second week and no more in the third), sums of
hours that nothing adds up and that every duty given changes, and rules in pages and mails, some of them overtaken.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.papers import day
from sandbox_scenarios.hard.story import Story, call, exercised, paged

DEPOTS = ("Elm Street", "Canal", "Old Mill", "Airport")
RULES = (
    "quarter", "twice", "rest", "ticket", "expired", "away", "back", "promise", "taken_back", "swap", "limit", "one_week",
)  # fmt: skip
OPEN = ((0, "early"), (1, "late"), (2, "early"), (3, "late"), (4, "late"))
"""Open duties of a week, by weekday and part."""
PARTS = ("early", "late")
MOST = 1
"""Duties in a week of whoever takes no more."""
Rota = tuple[int | None, ...]
"""Who gets the open duties of three weeks, by place in the team; None where two have as few hours."""
_DAYS = [7 * week + weekday for week in range(3) for weekday, _ in OPEN]
_LATE = [part == "late" for _ in range(3) for _, part in OPEN]


def _minutes(draw: Draw) -> int:
    return 5 * draw.randrange(48, 116)


def duty_rota(draw: Draw, size: Mapping[str, Any]) -> dict[str, Any]:
    """One instance; sizes are ``past`` (duties of the team in the quarter) and ``others`` (duties elsewhere)."""
    story = Story(draw, date(2027, 5, 12) + timedelta(days=7 * draw.randrange(4)))
    rota = _Rota(story, size["past"])
    while not (rota.settled() and exercised(rota.filled, RULES)):
        pass
    return rota.told(size["others"])


class _Rota:
    """The team of a depot, its duties, and what was said about them. Days are counted from the first Monday."""

    def __init__(self, story: Story, past: int) -> None:
        self.story, draw = story, story.draw
        self.depot, *self.elsewhere = draw.sample(DEPOTS, len(DEPOTS))
        self.team = [draw.person() for _ in range(6)]
        self.monday = story.today + timedelta(days=5)
        first = (date(story.today.year, 4, 1) - self.monday).days
        self.before = [[0] * 6, [0] * 6]
        """Minutes by person: since the quarter began, and with those of the quarter before."""
        for number in range(past):
            person = min(range(6), key=lambda one: self.before[0][one] + draw.randrange(500))
            self.before[0][person] += self._duty(first + number * (-5 - first) // past, draw.choice(PARTS), person)
        self.before[1] = [*self.before[0]]
        for person in range(6):
            for _ in range(draw.randrange(3, 8)):
                self.before[1][person] += self._duty(first - draw.randrange(1, 20), draw.choice(PARTS), person)

    def _duty(self, on: int, part: str, person: int | None, minutes: int = 0) -> int:
        """Put a duty on the list and give its minutes."""
        minutes = minutes or _minutes(self.story.draw)
        name = None if person is None else self.team[person]
        self.story.add("duty", number=self.story.number("S"), depot=self.depot, day=day(self.monday, on), part=part, minutes=minutes, person=name)  # fmt: skip
        return minutes

    def settled(self) -> bool:
        """Draw the plan, and choose whom the rules are about, so that each hinders somebody; False if in vain."""
        draw, every = self.story.draw, frozenset(RULES)
        days = [7 * week + weekday for week in range(3) for weekday in draw.sample(range(5), 4)]
        self.planned = [(on, draw.random() < 0.5, draw.randrange(6), _minutes(draw)) for on in days]
        """Duties that somebody has: day, late or not, person, minutes."""
        self.minutes = [_minutes(draw) for _ in _DAYS]
        self.swapped = draw.sample(range(4, 12), 2)
        (on, _, one, mine), (at, _, two, others) = (self.planned[place] for place in self.swapped)
        if one == two or mine == others or any((row[0] == at and row[2] == one) or (row[0] == on and row[2] == two) for row in self.planned):  # fmt: skip
            return False
        self.ticketless = self.lapsed = self.promised = self.limited = self.leaves = self.returns = -1
        self.away: int = -1
        late = [place for place in range(15) if _LATE[place]]
        for name, places in (("ticketless", late), ("lapsed", late), ("promised", late[:6])):
            who: int | None = self.filled(every)[draw.choice(places)]
            if who is None:
                return False
            setattr(self, name, who)
        for self.limited in draw.sample(range(6), 6):
            if self.promised != self.limited and self._decide("limit", "one_week"):
                break
        else:
            return False
        for place in draw.sample(range(6, 14), 8):
            self.away = whose if (whose := self.filled(every - {"away"})[place]) is not None else -1
            self.leaves, self.returns = _DAYS[place], _DAYS[place] + draw.choice((1, 2))
            if self.away >= 0 and self._decide("away", "back"):
                return None not in self.filled(every)
        return False

    def _decide(self, *rules: str) -> bool:
        """True if each of the rules changes who gets what."""
        return exercised(lambda kept: self.filled(kept | (frozenset(RULES) - {*rules})), rules)

    def filled(self, rules: frozenset[str]) -> Rota:
        """Who gets the open duties by these of the rules."""
        minutes = [*self.before["quarter" not in rules]]
        has = {(person, on): late for on, late, person, _ in self.planned}
        for _, _, person, more in self.planned:
            minutes[person] += more
        chosen: list[int | None] = []
        for place, on in enumerate(_DAYS):
            if place == 5 and "swap" in rules:
                (at, late, one, mine), (then, later, two, others) = (self.planned[place] for place in self.swapped)
                minutes[one] += others - mine
                minutes[two] += mine - others
                del has[one, at], has[two, then]
                has[two, at], has[one, then] = late, later
            able = sorted((minutes[p], p) for p in range(6) if self._may(p, place, has, rules))
            if not able or (len(able) > 1 and able[0][0] == able[1][0]):
                chosen.append(None)
                continue
            person = able[0][1]
            chosen.append(person)
            minutes[person] += self.minutes[place]
            has[person, on] = _LATE[place]
        return tuple(chosen)

    def _may(self, p: int, place: int, has: Mapping[tuple[int, int], bool], rules: frozenset[str]) -> bool:
        on, late, week = _DAYS[place], _LATE[place], place // 5
        if "twice" in rules and (p, on) in has:
            return False
        if "rest" in rules and has.get((p, on + 1 if late else on - 1)) is (not late):
            return False
        if late and "ticket" in rules and (p == self.ticketless or (p == self.lapsed and "expired" in rules)):
            return False
        if p == self.away and "away" in rules and self.leaves <= on < self.returns + (0 if "back" in rules else 2):
            return False
        if p == self.promised and late and "promise" in rules and (week < 2 or "taken_back" not in rules):
            return False
        if p == self.limited and "limit" in rules and (week == 1 or (week == 2 and "one_week" not in rules)):
            return sum((p, 7 * week + one) in has for one in range(5)) < MOST
        return True

    def told(self, others: int) -> dict[str, Any]:
        """The scenario, with so many duties elsewhere."""
        story, draw, team = self.story, self.story.draw, self.team
        for on, late, person, minutes in self.planned:
            self._duty(on, PARTS[late], person, minutes)
        planned = [*story.rows["duty"].values()][-len(self.planned) :]
        for on, late, minutes in zip(_DAYS, _LATE, self.minutes, strict=True):
            self._duty(on, PARTS[late], None, minutes)
        duties = [*story.rows["duty"].values()][-len(_DAYS) :]
        ours = len(story.rows["duty"])
        strangers = [draw.person() for _ in range(5)]
        for _ in range(others):
            story.add("duty", number=story.number("S"), depot=draw.choice(self.elsewhere), day=day(story.today, draw.randrange(-50, 24)), part=draw.choice(PARTS), minutes=_minutes(draw), person=draw.choice(strangers))  # fmt: skip
        for name in draw.sample([*team, *strangers], len(team) + len(strangers)):
            where = self.depot if name in team else draw.choice(self.elsewhere)
            story.add("employee", name=name, role="driver", branch=where)
        story.shuffled("duty")
        trainer = story.staff(trainer="head of training")["trainer"]
        holders = [name for place, name in enumerate(team) if place != self.ticketless] + strangers[:2]
        draw.shuffle(holders)
        self._rules(trainer, holders)
        weeks = [day(self.monday, 7 * week) for week in range(3)]
        one, two = (planned[place] for place in self.swapped)
        promised = team[self.promised]
        says = [
            f"I plan the {self.depot} depot's duties and we do it week by week. Two things for all of what follows: I promised {promised} no late duties, and that holds until I say otherwise. And {team[self.limited]} has an exam in the week from {weeks[1]} and takes no more than one duty in that week, with those on the plan already. Now please fill the open duties of the week from {weeks[0]}, by our rules.",
            f"Good. Then {one['person']} and {two['person']} have agreed to swap: {one['number']} for {two['number']}. Please enter that, it goes for whatever we plan from here on. By the way, {promised} has just called: late duties are all right again from the week of {weeks[2]} on.",
            f"Now please fill the week from {weeks[1]}. Everything as it stands by now.",
            f"Then the last one, the week from {weeks[2]}, please fill that as well.",
        ]  # fmt: skip
        wanted = [
            (duty["number"], team[person])
            for duty, person in zip(duties, self.filled(frozenset(RULES)), strict=True)
            if person is not None
        ]
        gives = [call("assign_duty", duty=number, person=person) for number, person in wanted]
        looks = [
            *story.papers(team),
            call("list_employees", branch=self.depot),
            *paged(ours, "list_duties", depot=self.depot),
        ]
        turns = [
            {"calls": [*looks, *gives[:5]], "reply": "The duties of the first week are assigned."},
            {"calls": [call("swap_duties", duty=one["number"], other=two["number"])], "reply": "They have swapped."},
            {"calls": gives[5:10], "reply": "The duties of the second week are assigned."},
            {"calls": gives[10:], "reply": "The duties of the third week are assigned."},
        ]
        wanted += [(one["number"], two["person"]), (two["number"], one["person"])]
        return story.entry(
            ("You plan the duties of a depot and say what you want one thing at a time: " + " ".join(says), says[0]),
            turns,
            [("updates", "duty", {"number": number, "person": person}) for number, person in wanted],
            user={"script": {"then": says[1:]}},
        )

    def _rules(self, trainer: str, holders: list[str]) -> None:
        story, team = self.story, self.team
        leaves, returns, after = (day(self.monday, on) for on in (self.leaves, self.returns, self.returns + 1))
        story.page(
            "Who gets a duty",
            "An open duty goes to the driver of the depot who has the least time on duty in the quarter, of those who may take it. All minutes of the quarter on the plan count, worked or still to come, and so does each duty from the moment it is given. Open duties are given in the order of their days.",
        )
        story.page(
            "Quarters", "Quarters begin with January, April, July and October; the time of the one before is forgotten."
        )
        story.page("Rest", "Nobody has two duties on one day. After a late duty there is no early one on the next day.")
        story.page(
            "Lift van",
            "Late duties are driven with the lift van, for which one needs the ticket. Tickets are announced by the head of training.",
        )
        story.mail(
            -70,
            trainer,
            "Lift tickets",
            f"These have the ticket for the lift van: {', '.join(holders)}. Nobody else has it.",
        )
        story.mail(
            -20, trainer, "Lift van", f"{team[self.lapsed]}'s ticket has run out. There is no course before the autumn."
        )
        story.mail(
            -9,
            team[self.away],
            "Away",
            f"I am away from {leaves} to {after}, both days included, so please no duties then.",
        )
        story.mail(
            -1, team[self.away], "Away, shorter", f"We come home earlier: I can take duties again from {returns} on."
        )
