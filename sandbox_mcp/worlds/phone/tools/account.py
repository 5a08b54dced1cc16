"""Signing in. Only phones with an account have these tools; whether the rest needs it is for the session to say."""

from sandbox_mcp.tools.definition import NoDataError, action
from sandbox_mcp.world import Row, Transaction
from sandbox_mcp.worlds.phone.world import phone


def _account(tx: Transaction) -> Row:
    for row in tx.rows("account"):
        return row
    raise NoDataError("this phone has no account")


@action("account")
def sign_in(tx: Transaction, username: str, password: str) -> None:
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
    if account["signed_in"]:
        raise ValueError("already signed in")
    if (username, password) != (account["username"], account["password"]):
        raise PermissionError("the user name or the password is wrong")
    tx.update("account", str(account["account_id"]), {"signed_in": True})


@action("account")
def sign_out(tx: Transaction) -> None:
    """Sign out of the phone's account.

    Raises:
        NoDataError: this phone has no account.
        ValueError: nobody is signed in.
    """
    account = _account(tx)
    if not account["signed_in"]:
        raise ValueError("nobody is signed in")
    tx.update("account", str(account["account_id"]), {"signed_in": False})


phone.include(sign_in, sign_out)
