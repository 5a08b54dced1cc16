"""A mixer whose dials nobody has described, by what the tools tell."""

from fractions import Fraction

from sandbox_mcp.play.session.session import Session
from tests.scenarios.solvers.driver import Desk, Row, Unsolved, found, solves

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
COLOURS: tuple[str, ...] = ("red", "green", "blue")
DIALS = ("dial_a", "dial_b", "dial_c")


@solves("mixer_by_trial")
def mixer_by_trial(session: Session) -> None:
    """Learn what a mixer's dials do, set them and start the batch."""
    desk = Desk(session)
    recipe, hall = found(r"start a batch of ([\w ]+) in the (\w+) hall\.", desk.wish)
    desk.rule(
        "A sample is right if all three of its readings are what the recipe says, with whatever applies to it today.",
        "Paint for toys is made on mixers with a green plate, and nothing else is ever made on these.",
    )
    mixers = [mixer for mixer in desk.all("list_mixers", hall=hall) if not _plated(desk, mixer)]
    if len(mixers) != 1:
        raise Unsolved(f"which of {mixers}?")
    mixer = mixers[0]["number"]
    marks = [int(mixers[0][dial]) for dial in DIALS]

    def sample(marks: list[int]) -> list[int]:
        desk.call("set_dials", mixer=mixer, **dict(zip(DIALS, marks, strict=True)))
        told = desk.call("take_sample", mixer=mixer)
        return [told[colour] for colour in COLOURS]

    wanted, start = _wanted(desk, recipe, hall), sample(marks)
    gains: list[list[Fraction]] = []  # by dial
    for dial, mark in enumerate(marks):
        step = 10 if mark <= 50 else -10
        moved = sample([*marks[:dial], mark + step, *marks[dial + 1 :]])
        gains.append([Fraction(new - old, step) for new, old in zip(moved, start, strict=True)])
    missing = [Fraction(want - old) for want, old in zip(wanted, start, strict=True)]
    right = [mark + turn for mark, turn in zip(marks, _combined(gains, missing), strict=True)]
    if any(mark.denominator > 1 or not 0 <= mark <= 60 for mark in right):
        raise Unsolved(f"no marks are {right}")
    if sample([int(mark) for mark in right]) != wanted:
        raise Unsolved("dials do not do the same everywhere")
    desk.call("start_batch", mixer=mixer, recipe=recipe)


def _plated(desk: Desk, mixer: Row) -> bool:
    """Whether a note tells of a mixer's green plate."""
    return any("green plate" in note["text"] for note in desk.all("list_notes", about=mixer["number"]))


def _wanted(desk: Desk, recipe: str, hall: str) -> list[int]:
    """Readings that a sample has to have today."""
    [page] = [page for page in desk.pages(f"Recipe {recipe}") if page["title"] == f"Recipe {recipe}"]
    readings = found(r"^A sample reads red (-?\d+), green (-?\d+), blue (-?\d+)\.$", page["body"])
    wanted = dict(zip(COLOURS, map(int, readings), strict=True))
    for page in desk.pages("unheated"):
        first, last, more, colour, cold = found(
            r"^From (\w+) to (\w+) a batch that stands in an unheated hall needs (\d+) more (\w+) than the recipe\."
            r" The (\w+) hall is unheated\.$",
            page["body"],
        )
        since, until, month = MONTHS.index(first), MONTHS.index(last), desk.today.month - 1
        if cold == hall and (month - since) % 12 <= (until - since) % 12:
            wanted[colour] += int(more)
    for mail in desk.mails("Pigment"):
        if not mail["body"].endswith("It is used up by now."):
            colour, less = found(
                r"^From yesterday's delivery on our (\w+) is strong\. Take (\d+) off what a recipe says\.$",
                mail["body"],
            )
            wanted[colour] -= int(less)
    return [wanted[colour] for colour in COLOURS]


def _combined(vectors: list[list[Fraction]], wanted: list[Fraction]) -> list[Fraction]:
    """Parts of three vectors that together are a fourth one, by Cramer's rule."""

    def volume(a: list[Fraction], b: list[Fraction], c: list[Fraction]) -> Fraction:
        across = (b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0])
        return sum((one * other for one, other in zip(a, across, strict=True)), Fraction())

    a, b, c = vectors
    whole = volume(a, b, c)
    if not whole:
        raise Unsolved("the dials do not reach every colour")
    return [volume(wanted, b, c) / whole, volume(a, wanted, c) / whole, volume(a, b, wanted) / whole]
