"""Counts in words for people."""


def counted(number: float, noun: str) -> str:
    """``1 session``, ``2 sessions``; for nouns whose plural ends in s."""
    return f"{number:{',' if isinstance(number, int) else 'g'}} {noun if number == 1 else noun + 's'}"
