"""Solver of ``recalled_pallets``."""

import re

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves

TITLES = ("Recalls", "Labels", "Packing anew", "After a recall")
LOT = re.compile(r"\bL-([\d?]{4})")


class Recall:
    """Lots that are recalled, by what the head of quality wrote."""

    def __init__(self, mails: list[Row]) -> None:
        bodies = [mail["body"] for mail in mails]
        first, last = found(r"of the lots L-(\d+) to L-(\d+), both included", bodies[0])
        (self.since,) = found(r"Pallets that came before (\S+) are not concerned, whatever their lot", bodies[0])
        self.first, self.last, self.single = int(first), int(last), set[int]()
        for body in bodies[1:]:
            if narrower := re.search(r"only from L-(\d+) on, that one included, and besides L-(\d+),", body):
                self.first = int(narrower[1])
                self.single.add(int(narrower[2]))
            elif more := re.search(r"^One more .* L-(\d+) is recalled as well", body):
                self.single.add(int(more[1]))
            else:
                raise Unsolved(body)

    def concerns(self, lot: str) -> bool:
        """True if a lot, perhaps with a figure missing, may be one of those."""
        lots = [int(lot.replace("?", figure)) for figure in "0123456789"]
        return any(self.first <= one <= self.last or one in self.single for one in lots)


@solves("recalled_pallets")
def recalled_pallets(session: Session) -> None:
    """Have labels read, follow pallets to those they were packed from, and block what the recall is about."""
    desk = Desk(session)
    name, hall = found(r"There is a recall of (.+?)\. Please block the pallets in the (.+?) that it", desk.wish)
    if meant := re.search(r"but I meant (\w+ hall)", desk.say(f"You stand in the {hall}, is that right?")):
        hall = meant[1]
    (left,) = found(r"has (\d+) calls left", desk.wish)
    listed = [page["number"] for page in desk.all("list_handbook") if page["title"] in TITLES]
    rules = " ".join(desk.call("read_handbook", number=number)["body"] for number in listed)
    for sentence in (
        "by the head of quality, by mail, and nobody",
        "may be any figure",
        "lot of the one it was packed from",
    ):
        found(sentence, rules)
    found(r"If more than (half) of the kilos of an item in a hall, without those gone, are blocked", rules)
    (head,) = [one["name"] for one in desk.call("list_employees", role="head of quality")["rows"]]
    (item,) = [one["number"] for one in desk.all("list_items", name=name) if one["name"] == name]
    pallets = [one for one in desk.all("list_pallets", item=item, hall=hall) if one["status"] != "gone"]
    item_name = name.rpartition(" ")[0]
    mails = desk.mails(item_name)
    recall = Recall([mail for mail in mails if mail["sender"] == head])
    desk.notices.clear()
    late = [one["number"] for one in pallets if one["came"] >= recall.since]
    told = desk.say(f"Please read me the labels of {', '.join(late)}.")

    def lot(number: str) -> str:
        for note in desk.call("list_notes", about=number)["rows"]:
            if source := re.search(r"^Packed anew from (Q-\d+)", note["text"]):
                return lot(source[1])
            if known := re.search(r"^I emptied it .* L-(\d+)", note["text"]):
                return known[1]
        raise Unsolved(f"nothing tells the lot of {number}")

    lots: dict[str, str] = {}
    for number in late:
        (label,) = found(rf"{number}: ([^.]+)\.", told)
        lots[number] = label_lot[1] if (label_lot := LOT.search(label)) else lot(number)
    if desk.notices:
        known = {mail["number"] for mail in mails}
        newer = [row["number"] for row in desk.all("search_mails", text=item_name) if row["number"] not in known]
        mails += [mail for number in newer if (mail := desk.call("read_mail", number=number))["sender"] == head]
    recall = Recall([mail for mail in mails if mail["sender"] == head])
    blocked = [number for number in late if recall.concerns(lots[number])]
    for number in blocked:
        desk.call("block_pallet", pallet=number)
    if 2 * sum(one["kilos"] for one in pallets if one["number"] in blocked) > sum(one["kilos"] for one in pallets):
        desk.call("order_recount", item=item)
    if session.calls > int(left):
        raise Unsolved("too many calls")
