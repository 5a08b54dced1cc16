"""Signing in. Only phones with an account have these tools; whether the rest needs it is for the session to say."""

from sandbox_mcp.engine.world.faults import NoDataError
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.phone.tables import PhoneAccount
from sandbox_mcp.engine.worlds.phone.world import phone


def _account(tx: Tx) -> PhoneAccount:
    for account in tx.all(PhoneAccount):
        return account
    raise NoDataError("this phone has no account")


@phone.action(group="account", destructive=False, updates=[PhoneAccount.signed_in], said=["signed in", "logged in"])
def sign_in(tx: Tx, username: str, password: str) -> None:
    """Sign in to the phone's account.

    Args:
        username: Name of the account.
        password: Its password.

    Raises:
        NoDataError: this phone has no account.
        ValueError: somebody is signed in already.
        PermissionError: the name or the password is wrong.
    """
    account = _account(tx)
    if account.signed_in:
        raise ValueError("already signed in")
    if (username, password) != (account.username, account.password):
        raise PermissionError("the user name or the password is wrong")
    tx.change(account, signed_in=True)


@phone.action(group="account", destructive=False, updates=[PhoneAccount.signed_in], said=["signed out", "logged out"])
def sign_out(tx: Tx) -> None:
    """Sign out of the phone's account.

    Raises:
        NoDataError: this phone has no account.
        ValueError: nobody is signed in.
    """
    account = _account(tx)
    if not account.signed_in:
        raise ValueError("nobody is signed in")
    tx.change(account, signed_in=False)
