"""The filter that a person types above a list of sessions, as SQL.

Words are searched for in all that was said and done, and ``key:value`` narrows a column.

Policy: the same filter finds the same sessions here and in a report file, whose page filters by itself (``source.js``).
"""

import re
from typing import Any

from sandbox_mcp.app.report.errors import ReportError

FAILED = ("failed", "part", "voided")
NUMERIC = ("score", "turns", "calls", "errors")
LIKE = {name: name for name in ("scenario", "variant", "ending", "state", "run")} | {"cause": "cause_group"}
"""Keys whose value stands anywhere in a column, and that column."""
LISTS = {"category": "categories", "tool": "tools"}
"""Keys whose value is one of a column's list, and that column."""
KEYS = ("scenario", "variant", "category", "tool", "ending", "state", "cause", "run", *NUMERIC, "is")
MOST_TERMS = 40
"""How many terms a filter may have; SQLite refuses expressions of more than a thousand."""
LONGEST = 2000
"""Characters of a filter that are read."""
TERM = re.compile(r'(?:[^\s":]{1,64}:)?"[^"]*"|\S+')
"""A word, a phrase in quotation marks, or either behind a key."""
KEYED = re.compile(r"([a-z]+):(.*)", re.DOTALL)
FIGURE = re.compile(r"(<=|>=|<|>|=)?(-?\d+(?:\.\d+)?)")
"""A number, with how to compare with it."""


class FilterError(ReportError):
    """A filter that cannot be used."""


def where(query: str) -> tuple[str, list[Any]]:
    """A filter as SQL: conditions that begin with AND, and their values.

    Raises:
        FilterError: it has too many terms, an unknown key, or something else than a number where one is due.
    """
    terms = TERM.findall(query[:LONGEST])
    if len(terms) > MOST_TERMS:
        raise FilterError(f"the filter has {len(terms)} terms, expected at most {MOST_TERMS}")
    conditions: list[str] = []
    values: list[Any] = []
    for term in terms:
        keyed = KEYED.fullmatch(term)
        condition, found = _narrowed(term, keyed[1], keyed[2].strip('"')) if keyed else _said(term)
        conditions.append(f" AND {condition}")
        values += found
    return "".join(conditions), values


def _said(phrase: str) -> tuple[str, list[Any]]:
    """A condition on what was said and done; signs that are no part of a word are left out of the search."""
    words = re.findall(r"\w+", phrase)
    return ("place IN (SELECT rowid FROM texts WHERE texts MATCH ?)", [f'"{" ".join(words)}"*']) if words else ("1", [])


def _narrowed(term: str, key: str, value: str) -> tuple[str, list[Any]]:
    """A condition on a column."""
    if key in NUMERIC:
        figure = FIGURE.fullmatch(value)
        if figure is None:
            raise FilterError(f"'{term}': expected a number, such as {key}:<0.5")
        if figure[1] in (None, "="):  # as it is shown, and not to the last bit
            return f"abs({key} - ?) < 1e-9", [float(figure[2])]
        return f"{key} {figure[1]} ?", [float(figure[2])]
    if key == "is":
        wanted = value.lower()
        states = FAILED if wanted == "failed" else (wanted,)
        return ("flaky = 1", []) if wanted == "flaky" else (f"state IN ({', '.join('?' * len(states))})", [*states])
    if key in LISTS:
        return f"EXISTS (SELECT 1 FROM json_each({LISTS[key]}) WHERE json_each.value = ? COLLATE NOCASE)", [value]  # noqa: S608
    if key in LIKE:
        return f"{LIKE[key]} LIKE ? ESCAPE '\\'", ["%" + re.sub(r"([%_\\])", r"\\\1", value) + "%"]
    raise FilterError(f"unknown key '{key}'; known: {', '.join(KEYS)}")
