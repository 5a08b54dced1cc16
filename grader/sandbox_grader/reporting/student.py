"""Student's t distribution and the exact sign test, in closed form: all that intervals and McNemar's test need.

Policy: degrees of freedom are whole numbers here, clusters less one, for which the distribution is a finite sum; a
library of statistics would be a third of the installation.
"""

import math
from functools import lru_cache
from statistics import NormalDist

STEPS = 200
"""Steps of Newton's method at most; it takes about ten, and forty for the far ends of one degree of freedom."""


def t_share(t: float, freedom: int) -> float:
    """The probability that a variable with ``freedom`` degrees lies between ``-t`` and ``t``, for ``t`` from 0.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    angle = math.atan2(t, math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    terms = [term] if freedom > 1 else []
    for step in range(3 if odd else 2, freedom - 1, 2):
        term *= square * (step - 1) / step
        terms.append(term)
    total = sine * math.fsum(terms)
    return (angle + total) * 2 / math.pi if odd else total


@lru_cache(maxsize=1024)
def t_quantile(share: float, freedom: int) -> float:
    """The value below which a variable with ``freedom`` degrees lies with the probability ``share``.

    Newton's method from the normal quantile, which lies too low; the distribution is concave above it, so that no step
    goes too far.
    """
    if share < 0.5:
        return -t_quantile(1 - share, freedom)
    wanted = 2 * share - 1
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    t = NormalDist().inv_cdf(share)
    for _ in range(STEPS):
        density = scale * (1 + t * t / freedom) ** (-(freedom + 1) / 2)
        step = (wanted - t_share(t, freedom)) / (2 * density)
        t += step
        if abs(step) <= 1e-15 * max(1.0, t):
            break
    return t


def sign_test(one: int, other: int) -> float:
    """The two-sided p-value of so many heads and tails of a fair coin: the chance of as uneven a split, or more."""
    tosses = one + other
    tail = ways = 1  # for no tosses of the rarer side, then one more at a time
    for rarer in range(1, min(one, other) + 1):
        ways = ways * (tosses - rarer + 1) // rarer
        tail += ways
    return min(1.0, 2 * tail / 2**tosses)
