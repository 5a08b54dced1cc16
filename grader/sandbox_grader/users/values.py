"""Telling values in what people say: telephone numbers, mail addresses, ids, numbers and dates, in one form each.

Policy: a value is telling if it is hardly the same by chance. Numbers of fewer than three digits, round ones, years and
times of day are not.
"""

import re
from dataclasses import dataclass
from typing import Literal

from sandbox_grader.grading.values import remembered

_Kind = Literal["phone number", "mail address", "id", "date", "number"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_ISO = r"\b\d{4}-(?P<m>[01]\d)-(?P<d>[0-3]\d)\b"
_DATES = tuple(
    re.compile(form)
    for form in (rf"\b{_DAY}(?: of)? {_MONTH}\b(?:,? \d{{4}}\b)?", rf"\b{_MONTH}\.? {_DAY}\b(?:,? \d{{4}}\b)?", _ISO)
)
_CALENDAR = re.compile(rf"\b{_MONTH}\b|{_ISO}")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_TIME = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\b\.?)?", re.IGNORECASE)
_PHONE = re.compile(r"(?<![\w.,/-])\+?\(?\d(?:[ ().-]{0,2}\d){6,14}(?![\w/-]|[.,]\d)")
_NUMBER = re.compile(r"(?<![\w.,/-])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w/-]|[.,]\d)")
_THOUSANDS = re.compile(r"\d{1,3}(?: 000)+|\d{1,2}(?: \d{3})+")
_TIMESTAMP = re.compile(r"1\d{9}")
_WORD = re.compile(r"[^\W_]+")
TAIL = 7
"""So many digits at the end tell one telephone number from another, whatever stands before them."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value in one form (``form``) and as it was written (``words``)."""

    kind: _Kind
    form: str
    words: str


@remembered(8192)
def telling(text: str) -> tuple[Value, ...]:
    """The telling values of a text; no part of it is read as two values."""
    values = [Value("mail address", found[0].lower(), found[0]) for found in _MAIL.finditer(text)]
    rest = _MAIL.sub(" ; ", text)
    values += (Value("id", found[0].lower(), found[0]) for found in _ID.finditer(rest))
    rest = _ID.sub(" ; ", rest)
    for pattern in _DATES:
        values += (Value("date", _month_day(found), found[0]) for found in pattern.finditer(rest))
        rest = pattern.sub(" ; ", rest)
    rest = _TIME.sub(" ; ", rest)
    phones = (found[0] for found in _PHONE.finditer(rest) if _is_phone(found[0]))
    values += (Value("phone number", digits(phone), phone.strip()) for phone in phones)
    rest = _PHONE.sub(lambda found: " ; " if _is_phone(found[0]) else found[0], rest)
    numbers = (found[0] for found in _NUMBER.finditer(rest) if _tells(found[0]))
    values += (Value("number", number.replace(",", ""), number) for number in numbers)
    return tuple(values)


def digits(text: str) -> str:
    """The digits of a text, without what stands between them."""
    return re.sub(r"\D", "", text)


def names_a_day(text: str) -> bool:
    """True if a text has a month or a date, from which its reader can work out others."""
    return bool(_CALENDAR.search(text))


@remembered(8192)
def plain(text: str) -> str:
    """A text as lower-case words with single spaces around each, so that it can be looked for."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def month_day(month: int, day: int) -> str:
    """The form of a date: the month and the day, since a year is seldom said."""
    return f"{month:02d}-{day:02d}"


def _month_day(found: re.Match[str]) -> str:
    groups = found.groupdict()
    if "m" in groups:
        return month_day(int(groups["m"]), int(groups["d"]))
    return month_day(_MONTHS.index(groups["month"][:3].lower()) + 1, int(groups["day"]))


def _is_phone(text: str) -> bool:
    """True if digits are a telephone number rather than an amount or a Unix timestamp."""
    number = digits(text)
    if _THOUSANDS.fullmatch(text.strip()):
        return False
    apart = number != text.strip()
    return text.startswith("+") or (apart and len(number) >= TAIL) or (len(number) >= 9 and not _TIMESTAMP.match(text))


def _tells(text: str) -> bool:
    """True if a number is hardly the same by chance: three digits or more, neither round nor a year."""
    number = text.replace(",", "").lstrip("-")
    whole, point, _ = number.partition(".")
    figures = number.replace(".", "").strip("0")
    year = not point and len(whole) == 4 and whole[:2] in ("18", "19", "20", "21")
    return len(figures) >= 3 and not year
