"""Suppliers, their bills, what came in for these, and payments from our accounts."""

from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.desk.paging import PageOfRows, asked, has, page_of
from sandbox_mcp.engine.worlds.desk.tables import BankAccount, GoodsReceipt, Payout, Supplier, SupplierBill
from sandbox_mcp.engine.worlds.desk.world import desk

GROUP = "paying"


class Suppliers(PageOfRows):
    """Suppliers by number."""

    rows: list[Supplier]


class Bills(PageOfRows):
    """Bills in the order in which they came."""

    rows: list[SupplierBill]


class Receipts(PageOfRows):
    """Receipts of goods, oldest first."""

    rows: list[GoodsReceipt]


class Accounts(PageOfRows):
    """Accounts by number."""

    rows: list[BankAccount]


class Payouts(PageOfRows):
    """Payments in the order in which they were made."""

    rows: list[Payout]


@desk.query(group=GROUP)
def list_suppliers(tx: Tx, name: str = "", page: int = 1) -> Suppliers:
    """List suppliers, by number.

    Args:
        name: Only those whose name has this text in it.
        page: Page of the list.
    """
    found = [one for one in tx.all(Supplier) if has(name, one.name)]
    rows, of = page_of(sorted(found, key=lambda one: one.number), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_bills(tx: Tx, supplier: str = "", status: str = "", page: int = 1) -> Bills:
    """List the bills of suppliers in the order in which they came.

    Args:
        supplier: Only of the supplier of this number.
        status: Only with this status: open or paid.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(SupplierBill, "received", "number", **asked(supplier=supplier, status=status)), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_receipts(tx: Tx, purchase: str = "", page: int = 1) -> Receipts:
    """List what came in, oldest first; one purchase may come in several parts.

    Args:
        purchase: Only under this purchase number.
        page: Page of the list.
    """
    rows, of = page_of(tx.ordered(GoodsReceipt, "day", "purchase", **asked(purchase=purchase)), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_accounts(tx: Tx, page: int = 1) -> Accounts:
    """List our accounts with what is on them.

    Args:
        page: Page of the list.
    """
    rows, of = page_of(sorted(tx.all(BankAccount), key=lambda one: one.number), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_payouts(tx: Tx, bill: str = "", page: int = 1) -> Payouts:
    """List the payments that were ordered today.

    Args:
        bill: Only for the bill of this number.
        page: Page of the list.
    """
    rows, of = page_of([one for one in tx.all(Payout) if bill in ("", one.bill)], page)
    return {"rows": rows, **of}


@desk.action(group=GROUP, adds=[Payout], said=["paid"])
def pay_bill(tx: Tx, bill: str, amount_cents: int) -> Payout:
    """Order a payment for a bill today. An order cannot be taken back, and each one is carried out.

    Args:
        bill: Number of the bill, such as B-17.
        amount_cents: Amount to pay, in whole cents.

    Raises:
        ValueError: the amount is not above 0, or above that of the bill.
    """
    found = tx.one(SupplierBill, number=bill)
    if not 0 < amount_cents <= found.amount_cents:
        raise ValueError(f"`amount_cents` must be from 1 to {found.amount_cents}")
    return tx.add(Payout, bill=found.number, amount_cents=amount_cents)
