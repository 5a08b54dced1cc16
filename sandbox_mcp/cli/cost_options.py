"""Options that say what models cost, and how much may be spent."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.cli.options import RealRange, together

if TYPE_CHECKING:
    from sandbox_grader.spending import Prices

    from sandbox_mcp.run.cost import Budget

cost_options = together(
    click.option("--price", metavar="IN/OUT", help="What a million tokens of the agent's model cost, such as 2.5/10."),
    click.option(
        "--user-price",
        metavar="IN/OUT",
        help="What a million tokens of the llm user's model cost. [default: --price, same model]",
    ),
    click.option(
        "--budget",
        type=RealRange(0, min_open=True),
        help="Begin no session that would take the folder's cost beyond this.",
    ),
    click.option(
        "--token-budget",
        type=click.IntRange(1),
        help="Begin no session that would take the folder's tokens beyond this.",
    ),
)
"""The options that :func:`chosen_costs` reads."""


def chosen_costs(options: Mapping[str, Any]) -> "tuple[Prices, Budget]":
    """The prices and the budget that the options give.

    Raises:
        RunError: a price is malformed, or the budget cannot be kept without one.
    """
    from sandbox_grader.spending import Price, Prices

    from sandbox_mcp.run.cost import Budget, checked

    agent = Price.parse(options["price"]) if options["price"] else None
    same = options["user_model"] in (None, options["model"])
    user = Price.parse(options["user_price"]) if options["user_price"] else agent if same else None
    prices = Prices(agent, user)
    budget = Budget(options["budget"], options["token_budget"])
    return prices, checked(budget, prices, modelled_user=options["user"] == "llm")
