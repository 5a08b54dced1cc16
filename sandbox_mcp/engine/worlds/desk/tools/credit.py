"""Customers, what they were billed and what they paid, and their holds."""

from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.desk.paging import PageOfRows, asked, has, page_of
from sandbox_mcp.engine.worlds.desk.tables import CreditCustomer, Invoice, Payment
from sandbox_mcp.engine.worlds.desk.world import desk

GROUP = "credit"


class _Customers(PageOfRows):
    """Customers by number."""

    rows: list[CreditCustomer]


class _Invoices(PageOfRows):
    """Invoices and credit notes, oldest first."""

    rows: list[Invoice]


class _Payments(PageOfRows):
    """Payments, oldest first."""

    rows: list[Payment]


@desk.query(group=GROUP)
def list_customers(tx: Tx, branch: str = "", status: str = "", name: str = "", page: int = 1) -> _Customers:
    """List customers, by number.

    Args:
        branch: Only of this branch.
        status: Only with this status: active or hold.
        name: Only those whose name has this text in it.
        page: Page of the list.
    """
    found = [
        one
        for one in tx.all(CreditCustomer)
        if branch in ("", one.branch) and status in ("", one.status) and has(name, one.name)
    ]
    rows, of = page_of(sorted(found, key=lambda one: int(one.number.partition("-")[2])), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_invoices(tx: Tx, customer: str = "", kind: str = "", page: int = 1) -> _Invoices:
    """List invoices and credit notes, oldest first.

    Args:
        customer: Only of the customer of this number.
        kind: Only of this kind: invoice or credit.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(Invoice, "day", "number", **asked(customer=customer, kind=kind)), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_payments(tx: Tx, customer: str = "", status: str = "", page: int = 1) -> _Payments:
    """List payments, oldest first.

    Args:
        customer: Only of the customer of this number.
        status: Only with this status: booked or returned.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(Payment, "day", "number", **asked(customer=customer, status=status)), page)
    return {"rows": rows, **of}


@desk.action(group=GROUP, updates=[CreditCustomer.status], said=["held", "hold"])
def hold_customer(tx: Tx, number: str) -> CreditCustomer:
    """Put a customer on hold, who then gets no more deliveries.

    Args:
        number: Number of the customer, such as C-17.

    Raises:
        ValueError: the customer is on hold.
    """
    return _set(tx, number, "hold")


@desk.action(group=GROUP, updates=[CreditCustomer.status], said=["released", "lifted"])
def release_customer(tx: Tx, number: str) -> CreditCustomer:
    """Lift the hold of a customer.

    Args:
        number: Number of the customer, such as C-17.

    Raises:
        ValueError: the customer is not on hold.
    """
    return _set(tx, number, "active")


def _set(tx: Tx, number: str, status: str) -> CreditCustomer:
    customer = tx.one(CreditCustomer, number=number)
    if customer.status == status:
        raise ValueError(f"customer {number} is {status} already")
    return tx.change(customer, status=status)
