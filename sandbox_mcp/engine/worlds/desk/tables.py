"""The tables of the desk. Amounts of money are whole cents of euros, days are texts such as 2027-03-08."""

from typing import Self

from sandbox_mcp.engine.world.tables import Id, Table, column, key


class HandbookPage(Table, name="page"):
    """A page of the handbook."""

    id: Id[Self] = key()
    number: str
    title: str
    body: str


class DeskMail(Table, name="mail"):
    """A mail in the team's mailbox."""

    id: Id[Self] = key()
    number: str
    day: str
    sender: str
    subject: str
    body: str


class RecordNote(Table, name="note"):
    """A note that somebody left on a record; ``about`` is the record's number."""

    id: Id[Self] = key()
    about: str
    day: str
    author: str
    text: str


class Employee(Table):
    """Somebody who works here."""

    id: Id[Self] = key()
    name: str = column(person=True)
    role: str
    branch: str


class CreditCustomer(Table, name="customer"):
    """A customer; ``status`` is active or hold."""

    id: Id[Self] = key()
    number: str
    name: str
    branch: str
    manager: str
    limit_cents: int
    status: str = "active"


class Invoice(Table):
    """An invoice to a customer, or a credit note, of which the amount is in the customer's favour."""

    id: Id[Self] = key()
    number: str
    customer: str
    day: str
    kind: str
    amount_cents: int


class Payment(Table):
    """A payment of a customer; ``invoice`` is null where it was not said what it is for."""

    id: Id[Self] = key()
    number: str
    customer: str
    day: str
    amount_cents: int
    invoice: str | None = None
    status: str = "booked"


class FitterCrew(Table, name="crew"):
    """A crew of fitters, which does at most one job a day."""

    id: Id[Self] = key()
    number: str
    name: str
    skills: str
    people: int
    base: str
    hour_cents: int
    week_hours: int


class Job(Table):
    """A job at a customer's site on a day."""

    id: Id[Self] = key()
    number: str
    day: str
    site: str
    town: str
    skill: str
    hours: int


class Trip(Table):
    """The price of a crew's trip from its base to a town and back."""

    id: Id[Self] = key()
    base: str
    town: str
    price_cents: int


class Booking(Table):
    """A crew that was booked for a job."""

    id: Id[Self] = key()
    job: str
    crew: str


class Mixer(Table):
    """A mixer: three dials, and the three readings of a sample that follow from them and from nothing else.

    ``gains`` are nine numbers, row by row, and ``offsets`` three. No tool tells them.
    """

    id: Id[Self] = key()
    number: str
    hall: str
    dial_a: int
    dial_b: int
    dial_c: int
    gains: list[int] = column(hidden=True)
    offsets: list[int] = column(hidden=True)
    samples: int
    state: str = "idle"
    batch: str | None = None


class StockItem(Table, name="item"):
    """An article in a hall; ``opening`` are the pieces of it on the first of January."""

    id: Id[Self] = key()
    number: str
    name: str
    hall: str
    pack: int
    price_cents: int
    opening: int


class StockMove(Table, name="move"):
    """Goods that came or went; a reversal names the movement that it takes back in ``of``."""

    id: Id[Self] = key()
    number: str
    item: str
    day: str
    kind: str
    quantity: int
    unit: str
    of: str | None = None
    status: str = "booked"


class StockCount(Table, name="count"):
    """What a team counted of an item."""

    id: Id[Self] = key()
    item: str
    day: str
    team: str
    quantity: int
    unit: str


class Correction(Table):
    """A correction of an item's books, in pieces."""

    id: Id[Self] = key()
    item: str
    pieces: int


class Recount(Table):
    """An order to count an item again."""

    id: Id[Self] = key()
    item: str


class Supplier(Table):
    """A supplier; ``late_cents`` is what it charges for a bill that is paid after its due day."""

    id: Id[Self] = key()
    number: str
    name: str
    late_cents: int


class SupplierBill(Table, name="bill"):
    """A bill of a supplier for what was ordered under a purchase number."""

    id: Id[Self] = key()
    number: str
    supplier: str
    purchase: str
    quantity: int
    amount_cents: int
    received: str
    due: str
    discount_percent: int
    discount_until: str
    status: str = "open"


class GoodsReceipt(Table, name="receipt"):
    """Goods that came in under a purchase number."""

    id: Id[Self] = key()
    purchase: str
    day: str
    quantity: int


class BankAccount(Table):
    """An account of ours at a bank."""

    id: Id[Self] = key()
    number: str
    name: str
    balance_cents: int


class Payout(Table):
    """A payment that was ordered today."""

    id: Id[Self] = key()
    bill: str
    amount_cents: int


class Duty(Table):
    """A duty of a depot on a day, early or late; ``person`` is null while it is open."""

    id: Id[Self] = key()
    number: str
    depot: str
    day: str
    part: str
    minutes: int
    person: str | None = None


class Panel(Table):
    """A washing line's panel: keys, and lamps of which ``lit`` names those that are on, such as 1 4 5.

    ``wiring`` has for each key the lamps that it turns over, as bits. No tool tells it.
    """

    id: Id[Self] = key()
    number: str
    site: str
    lit: str
    wiring: list[int] = column(hidden=True)
    state: str = "idle"
    program: str | None = None


class ContactCard(Table, name="card"):
    """A card of somebody who bought or asked; ``status`` is kept, blocked or erased."""

    id: Id[Self] = key()
    number: str
    name: str
    mail: str
    phone: str
    town: str
    status: str = "kept"


class Deal(Table):
    """Something that was dealt with somebody: an offer, a bill or a call."""

    id: Id[Self] = key()
    number: str
    card: str
    day: str
    kind: str


class Pallet(Table):
    """A pallet and the day it came; ``status`` is free, blocked or gone. No tool of the agent tells its label."""

    id: Id[Self] = key()
    number: str
    item: str
    hall: str
    came: str
    kilos: int
    label: str = column(hidden=True)
    status: str = "free"


class Parcel(Table):
    """A parcel that a carrier took for us; ``labelled`` is the day on its label."""

    id: Id[Self] = key()
    number: str
    carrier: str
    service: str
    labelled: str
    freight_cents: int


class Handover(Table):
    """A line of our own book at the gate: a parcel that was handed to its carrier."""

    id: Id[Self] = key()
    day: str
    parcel: str


class ParcelScan(Table, name="scan"):
    """A scan of a parcel by its carrier."""

    id: Id[Self] = key()
    parcel: str
    day: str
    event: str


class Tariff(Table):
    """Compensation of a carrier from a day on: per cent of the freight for each day, and at most so much in all."""

    id: Id[Self] = key()
    carrier: str
    service: str
    since: str
    percent: int
    most_cents: int


class DailyRate(Table, name="rate"):
    """Units of a currency for one euro, in ten-thousandths, as published on a day."""

    id: Id[Self] = key()
    currency: str
    day: str
    per_euro: int


class CarrierClaim(Table, name="claim"):
    """A claim against a carrier."""

    id: Id[Self] = key()
    parcel: str
    euro_cents: int


TABLES = (
    HandbookPage,
    DeskMail,
    RecordNote,
    Employee,
    CreditCustomer,
    Invoice,
    Payment,
    FitterCrew,
    Job,
    Trip,
    Booking,
    Mixer,
    StockItem,
    StockMove,
    StockCount,
    Correction,
    Recount,
    Supplier,
    SupplierBill,
    GoodsReceipt,
    BankAccount,
    Payout,
    Duty,
    Panel,
    ContactCard,
    Deal,
    Pallet,
    Parcel,
    Handover,
    ParcelScan,
    Tariff,
    DailyRate,
    CarrierClaim,
)
