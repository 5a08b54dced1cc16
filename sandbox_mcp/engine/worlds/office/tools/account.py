"""Accounts: registering, logging in and out, passwords and codes, and who the others are.

Source: ToolTalk, appendix A, plug-in AccountTools.
"""

import hashlib
from typing import TypedDict

from sandbox_mcp.engine.world.faults import DuplicateError, NoDataError
from sandbox_mcp.engine.world.tables import Secret
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.office.rules import (
    SUCCESS,
    AlreadyLoggedInError,
    Success,
    check_address,
    check_phone,
    me,
)
from sandbox_mcp.engine.worlds.office.tables import OWNED, Account, LogIn, Verification
from sandbox_mcp.engine.worlds.office.world import office

GROUP = "account"
CODES = 1_000_000
"""How many verification codes there are: six digits."""


class _AccountInfo(TypedDict):
    """What may be known of an account."""

    username: str
    email: str
    phone: str | None
    name: str | None


class _LoggedIn(TypedDict):
    """The session that a log-in opened."""

    session_token: str


class _Registered(TypedDict):
    """The session that a registration opened, and the new account."""

    session_token: str
    user: _AccountInfo


class _FoundUsers(TypedDict):
    """The accounts that a search found."""

    users: list[_AccountInfo]


class _OwnAccount(TypedDict):
    """The account that is logged in."""

    user: _AccountInfo


@office.action(name="RegisterUser", group=GROUP, adds=[Account, LogIn], said=["registered", "created"])
def register_user(
    tx: Tx, username: str, password: Secret, email: str, name: str | None = None, phone: str | None = None
) -> _Registered:
    """Make a new account and log it in. Nobody may be logged in.

    Args:
        username: What the account is to be called; no other account may have that name.
        password: Its password.
        email: Its mail address.
        name: The full name of its owner.
        phone: A phone number such as 555-010-0199.
    """
    _check_logged_out(tx)
    if not username.strip() or not password:
        raise ValueError("`username` and `password` must not be empty")
    if tx.all(Account, username=username):
        raise DuplicateError(f"the username {username!r} is taken; choose another")
    check_address("email", email)
    if phone is not None:
        check_phone("phone", phone)
    account = tx.add(Account, username=username, password=password, email=email, name=name, phone=phone)
    return {"session_token": tx.add(LogIn, account=account.account_id).session_token, "user": _person(account)}


@office.action(name="UserLogin", group=GROUP, adds=[LogIn], said=["logged in", "signed in"])
def user_login(tx: Tx, username: str, password: Secret) -> _LoggedIn:
    """Log in to an account. Nobody may be logged in.

    Args:
        username: The name of the account.
        password: Its password.
    """
    _check_logged_out(tx)
    account = _named(tx, username)
    _check_password(account, password)
    return {"session_token": tx.add(LogIn, account=account.account_id).session_token}


@office.action(name="LogoutUser", group=GROUP, removes=[LogIn], destructive=False, said=["logged out", "signed out"])
def logout_user(tx: Tx) -> Success:
    """Log out of the account that is logged in."""
    me(tx)
    for session in tx.all(LogIn):
        tx.remove(session)
    return SUCCESS


@office.action(name="ChangePassword", group=GROUP, updates=[Account.password], said=["changed"])
def change_password(tx: Tx, old_password: Secret, new_password: Secret) -> Success:
    """Change the password of the account that is logged in.

    Args:
        old_password: The password it has now.
        new_password: The password it is to have.
    """
    account = me(tx)
    if account.password != old_password:
        raise PermissionError("The old password is incorrect.")
    _set_password(tx, account, new_password)
    return SUCCESS


@office.action(
    name="SendVerificationCode",
    group=GROUP,
    adds=[Verification],
    updates=[Verification.code],
    removes=[Verification],
    destructive=False,
    reaches="email",
    said=["sent"],
)
def send_verification_code(tx: Tx, username: str, email: str) -> Success:
    """Send a verification code to the mail address of an account, so that its password can be reset.

    The code goes to the owner alone, who has to tell it. A new code makes earlier ones of the account void.

    Args:
        username: The name of the account.
        email: The mail address that the account has.
    """
    account = _named(tx, username)
    if account.email.casefold() != email.casefold():
        raise PermissionError("The email is incorrect.")
    _void(tx, account)
    sent = tx.add(Verification, account=account.account_id, code=account.next_code or "")
    if not account.next_code:
        digest = hashlib.sha256(sent.verification_id.encode()).digest()
        tx.change(sent, code=f"{int.from_bytes(digest[:8]) % CODES:06d}")
    return SUCCESS


@office.action(name="ResetPassword", group=GROUP, updates=[Account.password], removes=[Verification], said=["reset"])
def reset_password(tx: Tx, username: str, verification_code: Secret, new_password: Secret) -> Success:
    """Give an account a new password, with a verification code that was sent to its owner. A code works once.

    Args:
        username: The name of the account.
        verification_code: The six digits that were sent.
        new_password: The password it is to have.
    """
    account = _named(tx, username)
    if not any(sent.code == verification_code for sent in tx.all(Verification, account=account.account_id)):
        raise PermissionError("The verification code is incorrect.")
    _set_password(tx, account, new_password)
    _void(tx, account)
    return SUCCESS


@office.action(
    name="UpdateAccountInformation",
    group=GROUP,
    updates=[Account.email, Account.phone, Account.name],
    said=["updated", "changed"],
)
def update_account_information(
    tx: Tx,
    password: Secret,
    new_email: str | None = None,
    new_phone_number: str | None = None,
    new_name: str | None = None,
) -> Success:
    """Change what is known of the account that is logged in. What is not given stays as it is.

    Args:
        password: The password of the account.
        new_email: Its new mail address.
        new_phone_number: Its new phone number, such as 555-010-0199.
        new_name: The new full name of its owner.
    """
    account = me(tx)
    _check_password(account, password)
    given = {"email": new_email, "phone": new_phone_number, "name": new_name}
    changed = {column: value for column, value in given.items() if value is not None}
    if not changed:
        raise ValueError("give at least one of `new_email`, `new_phone_number` and `new_name`")
    if new_email is not None:
        check_address("new_email", new_email)
    if new_phone_number is not None:
        check_phone("new_phone_number", new_phone_number)
    tx.change(account, **changed)
    return SUCCESS


@office.action(name="DeleteAccount", group=GROUP, removes=[Account, *OWNED], said=["deleted", "removed"])
def delete_account(tx: Tx, password: Secret) -> Success:
    """Delete the account that is logged in, with all that it keeps, and log out. This cannot be undone.

    Args:
        password: The password of the account.
    """
    account = me(tx)
    _check_password(account, password)
    for table in OWNED:
        for row in tx.all(table, account=account.account_id):
            tx.remove(row)
    tx.remove(account)
    return SUCCESS


@office.query(name="GetAccountInformation", group=GROUP)
def get_account_information(tx: Tx) -> _OwnAccount:
    """Tell what is known of the account that is logged in."""
    return {"user": _person(me(tx))}


@office.query(name="QueryUser", group=GROUP)
def query_user(tx: Tx, username: str | None = None, email: str | None = None) -> _FoundUsers:
    """Find accounts by username, by mail address, or by both.

    Args:
        username: The exact name of the account.
        email: The mail address of the account.
    """
    me(tx)
    if username is None and email is None:
        raise ValueError("give at least one of `username` and `email`")
    address = None if email is None else email.casefold()
    return {
        "users": [
            _person(account)
            for account in tx.all(Account)
            if username in (None, account.username) and address in (None, account.email.casefold())
        ]
    }


@office.user_action
def look_for_code(tx: Tx) -> str:
    """Look into your own mail, outside the office, for a verification code that was sent to you."""
    codes = [sent.code for sent in tx.all(Verification)]
    if not codes:
        raise NoDataError("no verification code has come")
    return f"The verification code that came last is {codes[-1]}."


def _person(account: Account) -> _AccountInfo:
    return {"username": account.username, "email": account.email, "phone": account.phone, "name": account.name}


def _named(tx: Tx, username: str) -> Account:
    found = next(iter(tx.all(Account, username=username)), None)
    if found is None:
        raise NoDataError("The username does not exist.")
    return found


def _check_logged_out(tx: Tx) -> None:
    session = next(iter(tx.all(LogIn)), None)
    if session is not None:
        name = tx.get(Account, session.account).username
        raise AlreadyLoggedInError(f"{name!r} is logged in, and one account can be at a time; log out first")


def _check_password(account: Account, password: str) -> None:
    if account.password != password:
        raise PermissionError("The password is incorrect.")


def _set_password(tx: Tx, account: Account, password: str) -> None:
    if not password:
        raise ValueError("`new_password` must not be empty")
    tx.change(account, password=password)


def _void(tx: Tx, account: Account) -> None:
    for sent in tx.all(Verification, account=account.account_id):
        tx.remove(sent)
