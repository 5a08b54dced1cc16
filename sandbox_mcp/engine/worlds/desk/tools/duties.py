"""Duties of the depots, and who has them."""

from sandbox_mcp.engine.world.faults import DuplicateError
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.desk.paging import PageOfRows, asked, page_of
from sandbox_mcp.engine.worlds.desk.tables import Duty, Employee
from sandbox_mcp.engine.worlds.desk.world import desk

GROUP = "duties"


class Duties(PageOfRows):
    """Duties by day."""

    rows: list[Duty]


@desk.query(group=GROUP)
def list_duties(tx: Tx, depot: str = "", person: str = "", day: str = "", page: int = 1) -> Duties:
    """List duties by day, those of the past and those to come.

    Args:
        depot: Only of this depot.
        person: Only of the person of this name.
        day: Only on this day.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(Duty, "day", "part", "number", **asked(depot=depot, person=person, day=day)), page)
    return {"rows": rows, **of}


@desk.action(group=GROUP, updates=[Duty.person], destructive=False, said=["assigned", "filled", "given", "covered"])
def assign_duty(tx: Tx, duty: str, person: str) -> Duty:
    """Give an open duty to a person.

    Args:
        duty: Number of the duty, such as S-17.
        person: Name of the person.

    Raises:
        DuplicateError: somebody has the duty.
    """
    found, whose = tx.one(Duty, number=duty), tx.one(Employee, name=person)
    if found.person is not None:
        raise DuplicateError(f"{found.person} has the duty {duty}")
    return tx.change(found, person=whose.name)


@desk.action(group=GROUP, updates=[Duty.person], said=["swapped", "entered"])
def swap_duties(tx: Tx, duty: str, other: str) -> list[Duty]:
    """Let two people swap their duties.

    Args:
        duty: Number of the duty of the one, such as S-17.
        other: Number of the duty of the other.

    Raises:
        ValueError: one of the duties is open.
    """
    one, two = tx.one(Duty, number=duty), tx.one(Duty, number=other)
    if one.person is None or two.person is None:
        raise ValueError("both duties need somebody who has them")
    first, second = one.person, two.person
    return [tx.change(one, person=second), tx.change(two, person=first)]


@desk.action(group=GROUP, updates=[Duty.person], said=["cleared"])
def clear_duty(tx: Tx, duty: str) -> Duty:
    """Take a duty from whoever has it, so that it is open.

    Args:
        duty: Number of the duty, such as S-17.

    Raises:
        ValueError: the duty is open.
    """
    found = tx.one(Duty, number=duty)
    if found.person is None:
        raise ValueError(f"the duty {duty} is open")
    return tx.change(found, person=None)
