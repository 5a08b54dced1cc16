"""A count of stock, by what the tools tell."""

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves


@solves("stock_count")
def stock_count(session: Session) -> None:
    """Put a hall's books right by a count."""
    desk = Desk(session)
    hall, counted = found(r"books of the (\w+) hall right by the count of (\d{4}-\d\d-\d\d):", desk.wish)
    desk.rule(
        "The books begin with the pieces of the first of January, to which comes what came in",
        "Some movements are entered in packs; the item's record says how many pieces are in one.",
        "What was entered by mistake gets the status void and has moved nothing.",
        "it undoes the movement that it names as of that movement's day, whenever it was entered",
        "A hall is counted in the evening, after the last truck, by two teams",
        "Where their figures differ a control is held, and then only the control's figure counts.",
        "Where they differ and there was no control, nobody knows, and the item is counted again.",
        "A difference is what was counted less what the books had in that hour.",
        "The auditor may freeze an item by a note on its record; it is then neither corrected nor counted again.",
    )
    [page] = desk.pages("per cent of what the books had")
    percent, most = found(r"Up to (\d+) per cent .* worth more than ([\d,]+) euros at the item's price", page["body"])
    teams = {
        found(r"team (\w+) wrote packs on all its sheets", mail["body"])[0]
        for mail in desk.mails("wrote packs")
        if f"on {counted} team" in mail["body"]
    }
    auditors = {person["name"] for person in desk.all("list_employees", role="auditor")}
    counts = list(desk.all("list_counts", day=counted))
    for item in list(desk.all("list_items", hall=hall)):
        number = item["number"]
        notes = list(desk.all("list_notes", about=number))
        if any(note["author"] in auditors and "book nothing" in note["text"] for note in notes):
            continue
        sheets = {
            one["team"]: one["quantity"] * (item["pack"] if one["team"] in teams else 1)
            for one in counts
            if one["item"] == number
        }
        control = sheets.pop("Control", None)
        if len(sheets) != 2:
            raise Unsolved(f"{number} was counted by {sorted(sheets)}")
        if len(set(sheets.values())) > 1 and control is None:
            desk.call("order_recount", item=number)
            continue
        books = _books(desk, item, counted)
        off = (min(sheets.values()) if control is None else control) - books
        if abs(off) * 100 <= int(percent) * books:
            continue
        if abs(off) * item["price_cents"] > int(most.replace(",", "")) * 100:
            desk.call("order_recount", item=number)
        else:
            desk.call("book_correction", item=number, pieces=off)


def _books(desk: Desk, item: Row, counted: str) -> int:
    """Pieces that the books have at the end of a day."""
    moves = {move["number"]: move for move in desk.all("list_moves", item=item["number"])}
    undone = {move["of"] for move in moves.values() if move["kind"] == "reversal" and move["status"] != "void"}
    signs = {"in": 1, "out": -1}
    return item["opening"] + sum(
        signs[move["kind"]] * move["quantity"] * (item["pack"] if move["unit"] == "pack" else 1)
        for number, move in moves.items()
        if move["kind"] != "reversal" and number not in undone and move["status"] == "booked" and move["day"] <= counted
    )
