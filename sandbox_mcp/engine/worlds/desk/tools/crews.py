"""Crews of fitters, the jobs of a week, and who was booked for what."""

from sandbox_mcp.engine.world.faults import DuplicateError
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.desk.paging import PageOfRows, asked, page_of
from sandbox_mcp.engine.worlds.desk.tables import Booking, FitterCrew, Job, Trip
from sandbox_mcp.engine.worlds.desk.world import desk

GROUP = "crews"


class _Crews(PageOfRows):
    """Crews by number."""

    rows: list[FitterCrew]


class _Jobs(PageOfRows):
    """Jobs by day."""

    rows: list[Job]


class _Trips(PageOfRows):
    """Prices of trips."""

    rows: list[Trip]


class _Bookings(PageOfRows):
    """Bookings."""

    rows: list[Booking]


@desk.query(group=GROUP)
def list_crews(tx: Tx, base: str = "", page: int = 1) -> _Crews:
    """List the crews, by number.

    Args:
        base: Only with this base.
        page: Page of the list.
    """
    rows, of = page_of([one for one in tx.all(FitterCrew) if base in ("", one.base)], page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_jobs(tx: Tx, day: str = "", page: int = 1) -> _Jobs:
    """List the jobs that are to be done, by day.

    Args:
        day: Only on this day.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(Job, "day", "number", **asked(day=day)), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_trips(tx: Tx, base: str = "", page: int = 1) -> _Trips:
    """List what trips from the crews' bases to towns and back cost.

    Args:
        base: Only from this base.
        page: Page of the list.
    """
    rows, of = page_of([one for one in tx.all(Trip) if base in ("", one.base)], page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_bookings(tx: Tx, page: int = 1) -> _Bookings:
    """List the bookings there are.

    Args:
        page: Page of the list.
    """
    rows, of = page_of(tx.all(Booking), page)
    return {"rows": rows, **of}


@desk.action(group=GROUP, adds=[Booking], said=["booked"])
def book_crew(tx: Tx, job: str, crew: str) -> Booking:
    """Book a crew for a job. A job has one crew; cancel its booking to book another one.

    Args:
        job: Number of the job, such as J-3.
        crew: Number of the crew, such as F-2.

    Raises:
        DuplicateError: the job has a crew.
    """
    wanted, booked = tx.one(Job, number=job), tx.one(FitterCrew, number=crew)
    if tx.all(Booking, job=job):
        raise DuplicateError(f"job {job} has a crew")
    return tx.add(Booking, job=wanted.number, crew=booked.number)


@desk.action(group=GROUP, removes=[Booking], said=["cancelled"])
def cancel_booking(tx: Tx, job: str) -> None:
    """Cancel the booking of a job's crew.

    Args:
        job: Number of the job, such as J-3.
    """
    tx.remove(tx.one(Booking, job=job))
