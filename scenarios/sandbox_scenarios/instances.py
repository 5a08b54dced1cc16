"""The names of instances: ``married_name@7`` is the scenario ``married_name`` with everything drawn anew, by 7.

Policy: the label after the ``@`` decides every draw, so that a log, a worker and a grader elsewhere make the same
scenario of the name alone. ``@0`` is the scenario as written. Labels that follow from a secret cannot be guessed before
they were used, and are as good as any other afterwards.
"""

import re
from collections.abc import Iterable
from hashlib import sha256

MARK = "@"
"""Stands between a scenario's name and the label of an instance."""
_LABEL = re.compile(r"[a-z0-9]{1,24}")


def split(name: str) -> tuple[str, str]:
    """The scenario's own name and the label of the instance, empty for the scenario as written."""
    plain, _, label = name.partition(MARK)
    return plain, "" if label == "0" else label


def family_of(name: str) -> str:
    """The scenario that an instance is of: instances of one are repeats, so they form one cluster in statistics."""
    return name.partition(MARK)[0]


def is_label(text: str) -> bool:
    """Tell whether instances can be called so: small letters and digits, at most 24."""
    return bool(_LABEL.fullmatch(text))


def labels(count: int, secret: str = "") -> tuple[str, ...]:
    """The labels of the first instances: 1, 2, 3 and so on, or such as only who knows the secret can tell."""
    if not secret:
        return tuple(str(number) for number in range(1, count + 1))
    made = (sha256(f"{secret}\x00{number}".encode()).hexdigest()[:12] for number in range(1, count + 1))
    return tuple(f"s{text}" for text in made)


def instances(names: Iterable[str], count: int, secret: str = "") -> tuple[str, ...]:
    """So many instances of every scenario, all of one beside each other; names of instances stay as they are."""
    known = labels(count, secret)
    return tuple(
        one for name in names for one in ([f"{name}{MARK}{label}" for label in known] if MARK not in name else [name])
    )
