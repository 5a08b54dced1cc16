"""Agents that sessions on Ray are played with."""

import asyncio
import os
from collections import Counter

TOGETHER = int(os.environ.get("SANDBOX_TEST_TOGETHER", "1"))
"""How many sessions of one actor have to be under way before any goes on."""
_seen: Counter[str] = Counter()
_all_here = asyncio.Event()


async def slow(_: object) -> str:
    """Says something after a moment, so that there is time to kill what plays it."""
    await asyncio.sleep(0.1)
    return "Wifi is now off."


async def together(_: object) -> str:
    """Answers when so many sessions of this process wait for it."""
    _seen["asked"] += 1
    if _seen["asked"] >= TOGETHER:
        _all_here.set()
    await _all_here.wait()
    return "Wifi is now off."


async def deadly(_: object) -> str:
    """Takes the process with it."""
    os.kill(os.getpid(), 9)
    return ""
