"""Secrets that must not get onto a tape: found by their names, and taken out of whatever repeats them.

Policy: a secret is what stands under one of the names, in arguments and answers alike, and in JSON that travels as a
text. Those of fewer than ``SHORTEST`` characters are left out of arguments alone, under their names.
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any, cast
from urllib.parse import quote, quote_plus

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.worlds.recorded.tape import REDACTED, is_secret

SHORTEST = 4
"""How long a secret must be to be looked for in answers: shorter ones are in many a word."""


def secrets_in(value: Any, names: frozenset[str], inside: bool = False) -> Iterator[str]:
    """The texts and numbers that stand under secret names, however deep, also in a text in JSON; as texts."""
    if isinstance(value, str) and not inside and value.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            value = loads(value)
    if isinstance(value, Mapping):
        for name, item in cast("Mapping[str, Any]", value).items():
            yield from secrets_in(item, names, inside or is_secret(name, names))
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from secrets_in(item, names, inside)
    elif inside and not isinstance(value, bool | None):
        yield from _forms(value)


def _forms(value: str | float) -> Iterator[str]:
    """Forms of a secret, where it is long enough: a server that reads 47110 may answer 47110.0."""
    if len(str(value)) >= SHORTEST:
        yield str(value)
        if isinstance(value, int):
            yield f"{value}.0"
    if isinstance(value, float) and value.is_integer() and len(str(int(value))) >= SHORTEST:
        yield str(int(value))


def cleaned(value: Any, secrets: AbstractSet[str]) -> Any:
    """A JSON value without the secrets, also where they are numbers, names of members, or parts of JSON in a text."""
    if not secrets:
        return value
    return _Cleaner(secrets).clean(value)


class _Cleaner:
    """Takes secrets out of JSON values; many secrets cost no more than few, because an answer may list thousands."""

    def __init__(self, secrets: AbstractSet[str]) -> None:
        self._secrets = secrets
        self._written = {form for secret in secrets for form in _copies(secret) if len(form) >= SHORTEST}
        self._lengths = sorted({len(form) for form in self._written}, reverse=True)
        self._starts = {form[:SHORTEST] for form in self._written}

    def clean(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {self.clean(name): self.clean(item) for name, item in cast("Mapping[str, Any]", value).items()}
        if isinstance(value, list):
            return [self.clean(item) for item in cast("list[Any]", value)]
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value if self._secrets.isdisjoint(_forms(value)) else REDACTED
        return value

    def _text(self, text: str) -> str:
        kept, begun, place = list[str](), 0, 0
        while place <= len(text) - SHORTEST:
            found = 0
            if text[place : place + SHORTEST] in self._starts:
                found = next((length for length in self._lengths if text[place : place + length] in self._written), 0)
            if found:
                kept += text[begun:place], REDACTED
                begun = place = place + found
            else:
                place += 1
        return "".join([*kept, text[begun:]])


def _copies(secret: str) -> Iterator[str]:
    """How a secret may stand in what repeats it: as it is, in JSON, in other letters, backwards, encoded."""
    yield from (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    yield from (secret.upper(), secret.lower(), secret[::-1], quote(secret, safe=""), quote_plus(secret), quote(secret))
    data = secret.encode("utf-8", "surrogatepass")
    yield from (data.hex(), data.hex().upper())
    if len(data) < SHORTEST + 2:
        return
    for lead in range(3):  # as part of a longer text it may begin at any of three places in a group of base64
        whole = b64encode(b"\0" * lead + data).decode()
        inner = whole[(0, 2, 3)[lead] : len(whole) - (0, 3, 2)[(lead + len(data)) % 3]]
        yield from (inner, inner.replace("+", "-").replace("/", "_"))
