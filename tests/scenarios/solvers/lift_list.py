"""Solver of ``lift_list``."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, found, solves

HOME = ZoneInfo("Europe/London")
COUNTS = {"two": 2, "three": 3}
OFF = ("take me off", "strike me off")


class Match:
    """What contacts and texts say of riders and cars."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.began: float = desk.call("get_current_timestamp")["result"]
        self.begins = datetime.fromtimestamp(self.began, HOME).replace(hour=0, minute=0, second=0)
        self.noon = self.begins + timedelta(hours=12)
        self.sent: set[tuple[str, str]] = set()
        self.people: list[Row] = desk.call("search_contacts")["result"]
        self.riders: dict[str, str] = {}
        self.drivers: dict[str, str] = {}
        for one in self.people:
            if one["relationship"].startswith("supporter"):
                (self.riders[one["phone_number"]],) = found(r"gets in at (\w+)$", one["relationship"])
            elif one["relationship"].startswith("driver of car"):
                self.drivers[one["phone_number"]] = one["relationship"]

    def texts(self) -> list[Row]:
        """Texts of today, oldest first."""
        rows: list[Row] = self.desk.call("search_messages")["result"]
        today = [row for row in rows if self.begins.timestamp() <= row["creation_timestamp"]]
        return sorted(today, key=lambda row: row["creation_timestamp"])

    def seated(self, texts: list[Row]) -> dict[str, int]:  # noqa: C901  (one story)
        """Car of everybody on the list, 0 for none, in the order of their turns."""
        cars: dict[int, tuple[int, set[str]]] = {}
        for number, what in self.drivers.items():
            car, seats, one, other = found(r"car (\d), (\d) free seats, comes by (\w+)(?: and (\w+))?$", what)
            room, stops = int(seats), {one, other}
            for text in texts:
                words = text["content"]
                if text["sender_phone_number"] != number:
                    continue
                if "I take nobody today" in words:
                    room = 0
                elif "seats today" in words:
                    room = COUNTS[found(r"only have (\w+) seats today", words)[0]]
                elif "not the way you have it" in words:
                    stops = {*found(r"I come by (\w+) and (\w+) today", words)}
            cars[int(car)] = (room, stops)
        wants: dict[str, tuple[float, int]] = {}
        for text in texts:
            number, words = text["sender_phone_number"], text["content"]
            if number not in self.riders or text["creation_timestamp"] >= self.noon.timestamp():
                continue
            wants.pop(number, None)
            if not any(off in words for off in OFF):
                two = re.search(r"\btwo\b", words.lower())
                wants[number] = (text["creation_timestamp"], 2 if two else 1)
        answer: dict[str, int] = {}
        for number, (_, seats) in sorted(wants.items(), key=lambda item: item[1]):
            answer[number] = 0
            for car, (room, stops) in sorted(cars.items()):
                if self.riders[number] in stops and room >= seats:
                    cars[car], answer[number] = (room - seats, stops), car
                    break
        return answer


def _told(match: Match, number: str, words: str) -> None:
    """Send a text; where the line fails, look whether it went, in a search that is not an old one."""
    sends = {"phone_number": number, "content": words}
    while match.desk.session.call("send_message_with_phone_number", sends).error is not None:
        gone: set[tuple[str, str]] = set()
        while not gone >= match.sent:
            gone = {(row["recipient_phone_number"], row["content"]) for row in match.texts()}
        if (number, words) in gone:
            break
    match.sent.add((number, words))


@solves("lift_list")
def lift_list(session: Session) -> None:
    """Wait until noon, tell everybody on the list their car, and take the last one out of the car that has less."""
    desk = Desk(session)
    match = Match(desk)
    desk.call("wait", seconds=match.noon.timestamp() - match.began)
    while True:  # a search may tell less than what was announced
        texts = match.texts()
        senders = {row["sender_phone_number"] for row in texts if row["creation_timestamp"] > match.began}
        if all(found(r"from (\S+)\.$", notice)[0] in senders for notice in desk.notices):
            break
    desk.notices.clear()
    seats = match.seated(texts)
    for number, car in seats.items():
        _told(match, number, f"Car {car}" if car else "No seat")
    while not (late := [row for row in match.texts() if "one seat fewer" in row["content"]]):
        pass
    for row in late:
        (car,) = found(r"car (\d)", match.drivers[row["sender_phone_number"]])
        _told(match, [number for number, one in seats.items() if one == int(car)][-1], "No seat")
