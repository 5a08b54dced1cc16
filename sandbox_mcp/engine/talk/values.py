"""The typed values that a plain text mentions, from times and dates to phone numbers, each with where it stands.

Policy: a value is read once, by the most particular pattern that fits; how precisely it was written is kept, because
rounding is judged by it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sandbox_mcp.engine.talk.numbers import MONTHS
from sandbox_mcp.engine.talk.patterns import Lazy, any_case
from sandbox_mcp.engine.talk.units import UNITS

_Kind = Literal["time", "date", "weekday", "duration", "money", "temperature", "quantity", "phone", "number", "percent"]
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = "|".join((*MONTHS, "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sept", "sep", "oct", "nov", "dec"))
_NUM = r"(?<![\w.])[-+]?\d{1,15}(?:\.\d{1,15})?"


@dataclass(frozen=True, slots=True)
class Mention:
    """A value in a text. ``value`` in the base unit of its kind; ``unit`` a currency, dimension or the noun counted.

    ``step`` is what the last written digit is worth, in the unit of ``value``. Times are minutes of the day, with
    ``half`` False where morning or afternoon is open; dates are (year or 0, month, day) alternatives. ``factor`` is
    what the unit of a quantity is worth in the base unit.
    """

    kind: _Kind
    start: int
    end: int
    value: float | str | tuple[tuple[int, int, int], ...]
    unit: str = ""
    step: float = 0.0
    half: bool = True
    factor: float = 1.0

    @property
    def number(self) -> float:
        """The value of a kind that has a number; not a number for the others."""
        return float(self.value) if isinstance(self.value, int | float) else float("nan")


CURRENCIES: Mapping[str, str] = {
    "USD": r"us\$|usd|us dollars?|u\.s\. dollars?|american dollars?|greenbacks?",
    "CAD": r"ca\$|c\$|cad|canadian dollars?|loonies|loonie",
    "AUD": r"a\$|au\$|aud|australian dollars?|aussie dollars?",
    "NZD": r"nz\$|nzd|new zealand dollars?|nz dollars?|kiwi dollars?",
    "TWD": r"nt\$|twd|taiwan(?:ese)? dollars?|new taiwan dollars?",
    "HKD": r"hk\$|hkd|hong kong dollars?",
    "SGD": r"s\$|sgd|singapore dollars?",
    "EUR": r"€|eur|euros?",
    "GBP": r"£|gbp|british pounds?|pounds? sterling|pounds|quid",
    "JPY": r"jpy|jp¥|(?:japanese )?yen|円",
    "ZAR": r"zar|south african rand|rand",
    "INR": r"₹|inr|indian rupees?",
    "PKR": r"pkr|pakistani rupees?",
    "LKR": r"lkr|sri lankan rupees?",
    "CHF": r"chf|swiss francs?|francs?|swissies",
    "CNY": r"cny|rmb|cn¥|(?:chinese )?(?:yuan|renminbi)",
    "KRW": r"₩|krw|(?:south )?korean won|won",
    "SEK": r"sek|swedish (?:kron(?:or|a|e|er)|crowns?)|kronor",
    "NOK": r"nok|norwegian (?:kroner?|crowns?)",
    "DKK": r"dkk|danish (?:kroner?|crowns?)",
    "ISK": r"isk|icelandic (?:kr[oó]n\w{1,2}|crowns?)",
    "CZK": r"czk|kč|czech (?:korun\w?|crowns?)",
    "PLN": r"pln|zł|(?:polish )?z[lł]ot(?:y|ys|ych|ies)",
    "HUF": r"huf|(?:hungarian )?forints?",
    "TRY": r"₺|turkish liras?",
    "THB": r"thb|(?:thai )?baht",
    "ILS": r"₪|ils|(?:israeli )?(?:new )?shekels?",
    "RUB": r"₽|(?:russian )?r(?:o)?ubles?",
    "UAH": r"₴|uah|(?:ukrainian )?hryvnias?",
    "EGP": r"egp|egyptian pounds?",
    "ARS": r"ars|argentine pesos?",
    "MXN": r"mxn|mexican pesos?",
    "BRL": r"brl|reais|brazilian reals?",
    "RUPEE": r"rupees?",
    "KR": r"kr\b|kron(?:a|e|er)|crowns?",
    "PESO": r"pesos?",
    "¥": r"¥",
    "$": r"\$|dollars?|(?<!\w)bucks",
    "ANOTHER": r"[a-z]{4,14}(?:an|ese|ish|ch|ss|i|ine|ean) (?:rupees?|dollars?|pounds?|francs?|pesos?|crowns?|yuan|yen"
    r"|won|liras?|dinars?|riyals?|rands?)",
}
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "$": ("USD", "CAD", "AUD", "NZD", "TWD", "HKD", "SGD"),
    "KR": ("SEK", "NOK", "DKK", "ISK", "CZK"),
    "RUPEE": ("INR", "PKR", "LKR"),
    "PESO": ("MXN", "ARS"),
    "¥": ("JPY", "CNY"),
}
"""What a sign or a name that several countries share may stand for."""
_GROUPS = {"DOLLAR": "$", "YEN": "¥"}
_CURRENCY = "|".join(
    f"(?P<{'DOLLAR' if code == '$' else 'YEN' if code == '¥' else code}>{names})" for code, names in CURRENCIES.items()
)
_CURRENCY_AFTER = re.sub(r"\(\?P<(\w+)>", r"(?P<\1_after>", _CURRENCY)
_CURRENCY_BEFORE = _CURRENCY.replace("|won)", ")")
"""Nobody writes "won 3" of money, and "it won 3 awards" is of something else."""
_BESIDE_MONEY = (any_case(rf"(?:[$€£¥₹₩]|(?<!\w)(?:{_CURRENCY_BEFORE})) ?$"), any_case(rf" ?(?:{_CURRENCY})(?!\w)"))
_SECONDS = {
    "second": 1, "sec": 1, "s": 1, "minute": 60, "min": 60, "m": 60, "hour": 3600, "hr": 3600, "h": 3600,
    "day": 86400, "d": 86400, "night": 86400, "week": 604800, "wk": 604800, "fortnight": 1209600
}  # fmt: skip
_WORTH = {**_SECONDS, "month": 30.44 * 86400, "year": 365.25 * 86400}
_DURATION_UNIT = "|".join(f"{name}s?" for name in sorted(_WORTH, key=len, reverse=True))
_PART = rf"(\d{{1,9}}(?:\.\d{{1,3}})?)(?: |-)?(?:full |whole |more |calendar )?({_DURATION_UNIT})(?![\w/])"

_PHONE = Lazy(r"(?<![\w.:/-])(?:\+|\(?(?=[\d(]))\(?\d(?:[ ().-]{0,2}\d){6,16}(?![\w%°]|[.:]\d)")
_TIME = any_case(
    r"\b(?=\d)(?:(?P<h>[01]?\d|2[0-4])(?::|h)(?P<m>[0-5]\d)(?::[0-5]\d)?(?![\d])\s?(?P<ap>[ap]m\b)?|(?P<h2>1[0-2]"
    r"|0?\d)(?:\.(?P<m2>[0-5]\d))?\s?(?P<ap2>[ap]m\b)|(?P<h4>[01]\d|2[0-3])(?P<m4>[0-5]\d) ?(?:hours|hrs|local time"
    r"|utc)\b|(?:(?<=\bat )|(?=\d{1,2}\.\d\d (?:in the|at night))|(?=[12]\d\.\d\d"
    r" ?h\b))(?P<h5>\d{1,2})\.(?P<m5>[0-5]\d)(?![\d%])|(?:(?<=\bat )|(?<=\bby )|(?<=\buntil )|(?<=\btill )|(?<=\bfor )"
    r"|(?<=\baround )|(?<=\bfrom )|(?<=\bto )|(?<=\bafter )|(?<=\bbefore )|(?<=\bthan )|(?<=\bis )|(?<=\bor )"
    r"|(?<=\band )|(?<=\bnot ))(?P<h3>[1-9]|1\d|2[0-3])(?=(?:,)? (?:in the|at|tonight|tomorrow|today|sharp|on|for|so"
    r"|when|with|(?:to|till|until) \d{1,2})\b|[.,!?;)\n](?!\d)|$))"
)
_OF_DAY = any_case(
    r"(?:,? (?:tomorrow|today|tonight|sharp))?,?(?: in the| this| that| tomorrow| on \w{3,6}day)? (morning|afternoon"
    r"|evening|night)\b|,? (at night|tonight)\b"
)
_DATE = any_case(
    r"\b(?:(?P<y>\d{4})-(?P<mo>\d{1,2})-(?P<d>\d{1,2})(?!\d)"
    rf"|(?=[jfmasond])(?P<m1>{_MONTH})\.?,? (?:the )?(?P<d1>\d{{1,2}})(?:st|nd|rd"
    r"|th)?\b(?!:\d)(?:,? (?P<y1>[12]\d{3})\b)?|(?=[t\d])(?:the )?(?P<d2>\d{1,2})(?:st|nd|rd"
    rf"|th)?\.?(?: of)? (?P<m2>{_MONTH})\b\.?(?:,? (?P<y2>[12]\d{{3}})\b)?"
    r"|(?P<a>\d{1,2})[/.](?P<b>\d{1,2})[/.](?P<y3>\d{4})\b|(?<![\d.])(?P<a4>\d{1,2})/(?P<b4>\d{1,2})(?![\d/]|\.\d)"
    r"|(?=[to\d])(?:the |on )?(?P<d5>\d{1,2})(?:st|nd|rd|th)\b)"
)
_WEEKDAY_ANY = any_case(r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b")
_DURATION = any_case(
    rf"(?<![\w.]){_PART}(?:(?:,? and |, | )?{_PART}){{0,3}}(?: (?P<minutes>\d{{1,2}})\b(?! ?[\w:°%]))?"
)
_PIECE = any_case(_PART)
_CLOCKED = any_case(
    r"\b(?=\d)(?:(?:(\d{1,5}) days?(?: and|,)? )?(\d{1,4}):([0-5]\d):([0-5]\d)\b|(\d{1,3}):([0-5]\d)"
    r" (?:minutes?|mins?)\b|(2[5-9]|[3-9]\d|1\d\d):([0-5]\d)\b(?!:))"
)
_BEGINS = r"[^\s\d.,:;!?\"'()%°/–-]"
"""A sign or a letter that the name of a currency can begin with."""
_NUMBER_AHEAD = rf"(?={_BEGINS})(?=[^\s\d]{{1,24}}+(?: [^\s\d]{{1,24}}+){{0,2}}+ ?[-+]?\d)"
"""Looked at before all the currencies are tried: their names have three words at most."""
_MONEY = any_case(
    rf"(?:(?<!\w){_NUMBER_AHEAD}(?:{_CURRENCY_BEFORE}) ?)([-+]?\d{{1,15}}(?:\.\d{{1,15}})?)"
    rf"|({_NUM})(?= ?{_BEGINS}) ?(?:{_CURRENCY_AFTER})(?!\w)"
)
_CENTS = any_case(
    r"(?:,? and|,)? (\d{1,2}) ?(?:cents?|pence|p|paise|paisa|öre|øre|ore|centimes?|rappen|centavos?|fen|sen|kopeks?"
    r"|kopecks?|groszy|haléř\w*|agorot)\b"
)
_BARE_CENTS = Lazy(
    r"(?: and)? (\d{2})(?=\s*(?:[.,](?!\d)|[^\w\s.,:/%°-]|$"
    r"|(?:for|and|in|at|from|now|today|altogether|exactly|plus|each|a|while|but)\b))"
)
"""Cents behind a currency that is named: "34 pounds 95"."""
_TEMPERATURE = any_case(
    rf"({_NUM}) ?(?:(?:°|º|degrees?) ?(celsius|fahrenheit|centigrade|[cf]\b)?|(?:in )?(celsius|fahrenheit|[CF]\b))"
    r"(?![\w'])"
)
_PERCENT = any_case(rf"({_NUM}) ?(?:%|percent\b|per cent\b|percentage points?\b)")
_QUANTITY = any_case(
    rf"({_NUM})(?=[ -]?[^\s\d-])[ -]?({'|'.join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True))})s?"
    r"(?![\w/°])"
)
_NUMBER = Lazy(rf"({_NUM})(?![\w]|[.:]\d)")
_NAMED_TIME = any_case(r"\b(noon|midday|midnight)\b")
_WEEKDAY_SHORT = Lazy(r"\b(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b(?=[,.;)]|$| \d| [A-Z])")


@lru_cache(maxsize=512)
def mentions(text: str) -> Sequence[Mention]:
    """All values of a plain text in the order in which they stand."""
    digits = [found.start() for found in re.finditer(r"\d", text)]
    taken = bytearray(len(text))
    found = [*_weekdays(text), *_named_times(text)]
    for pattern, reader in _READERS:
        if all(taken[place] for place in digits):
            break
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            made = reader(match)
            if made is not None:
                found.append(made)
                if made.kind == "time" and match["h3"]:  # "it is 8" may as well be a number
                    found.append(Mention("number", match.start(), match.end("h3"), float(match["h3"]), "", 1.0))
                taken[made.start : made.end] = b"\1" * (made.end - made.start)
    return tuple(sorted(found, key=lambda item: item.start))


def _named_times(text: str) -> Iterator[Mention]:
    for match in _NAMED_TIME.finditer(text) if "noon" in (low := text.lower()) or "mid" in low else ():
        yield Mention("time", match.start(), match.end(), 0.0 if match[1].lower() == "midnight" else 720.0)


def _weekdays(text: str) -> Iterator[Mention]:
    for match in _WEEKDAY_ANY.finditer(text) if "day" in text.lower() else ():
        day = next(name for name in WEEKDAYS if name.startswith(match[1].lower()))
        yield Mention("weekday", match.start(), match.end(), day)
    for match in _WEEKDAY_SHORT.finditer(text):
        if not text[max(0, match.start() - 4) : match.start()].lower().endswith("the "):
            day = next(name for name in WEEKDAYS if name.startswith(match[0][:3].lower()))
            yield Mention("weekday", match.start(), match.end(), day)


def _phone(match: re.Match[str]) -> Mention | None:
    written = match[0].strip()
    if written.isdigit():
        a_moment = len(written) == 10 and written.startswith("1")  # in seconds since 1970
        return None if a_moment or _is_an_amount(match) else Mention("phone", match.start(), match.end(), written)
    spaced = " " in written and not {"-", "("} & set(written)
    if _NO_PHONE.search(written) or (spaced and _DECIMAL.search(written)):
        return None
    return Mention("phone", match.start(), match.end(), "".join(filter(str.isdigit, written)))


_NO_PHONE = Lazy(r"^\d{4}-\d{1,2}-\d{1,2}$|^\d+\.\d+$|\d\.\d{1,2} ?\(")
"""A date, a number with a point, or an amount with the same once more in brackets."""
_DECIMAL = Lazy(r"\d\.\d")


def _is_an_amount(match: re.Match[str]) -> bool:
    """True if digits stand beside the sign or the name of a currency: millions are as long as phone numbers."""
    before, after = _BESIDE_MONEY
    return bool(
        before.search(match.string[max(0, match.start() - 24) : match.start()])
        or after.match(match.string, match.end())
    )


def _time(match: re.Match[str]) -> Mention | None:
    hour = int(match["h"] or match["h2"] or match["h3"] or match["h4"] or match["h5"])
    minute = int(match["m"] or match["m2"] or match["m4"] or match["m5"] or 0)
    if match["h"] and (re.match(r":\d", match.string[match.end() : match.end() + 2]) or hour > 24):
        return None
    marker, end = (match["ap"] or match["ap2"] or "").lower(), match.start() + len(match[0].rstrip())
    if not marker:
        part = _OF_DAY.match(match.string, end)
        if part:
            word = (part[1] or "night").lower()
            marker = "am" if word == "morning" or (word == "night" and hour < 5) else "pm"
            end = part.end()
    sure = bool(marker) or hour > 12 or hour == 0 or (match["h"] or "").startswith("0")
    if marker:
        hour = hour % 12 + (12 if marker == "pm" else 0) if hour <= 12 else hour
    return Mention("time", match.start(), end, float(hour % 24 * 60 + minute), half=sure)


def _date(match: re.Match[str]) -> Mention | None:
    def month(name: str) -> int:
        return next(number for number, full in enumerate(MONTHS, 1) if full.startswith(name.lower()[:3]))

    if match["y"]:
        options = [(int(match["y"]), int(match["mo"]), int(match["d"]))]
    elif match["m1"]:
        options = [(int(match["y1"] or 0), month(match["m1"]), int(match["d1"]))]
    elif match["m2"]:
        options = [(int(match["y2"] or 0), month(match["m2"]), int(match["d2"]))]
    elif match["d5"]:
        options = [(0, 0, int(match["d5"]))]
    else:
        year, first, second = int(match["y3"] or 0), int(match["a"] or match["a4"]), int(match["b"] or match["b4"])
        options = [(year, first, second), (year, second, first)]
    # the 42nd of July is not a date, but it is told as one, and so it is another than the one that is asked for
    right = tuple(item for item in options if item[1] <= 12 and item[2] > 0 and (item[1] or item[0] == 0))
    return Mention("date", match.start(), match.end(), right) if right else None


def _duration(match: re.Match[str]) -> Mention | None:
    pieces = [(number, unit.lower().rstrip("s") or "s") for number, unit in _PIECE.findall(match[0])]
    unit = pieces[-1][1]
    if [name for _, name in pieces] in (["m"], ["d"]):
        return None  # 940 m are meters
    total = sum(float(number) * _WORTH[name] for number, name in pieces)
    step = _WORTH[unit] * _digits(pieces[-1][0])
    if match["minutes"] and unit in ("hour", "hr", "h"):
        total, step = total + float(match["minutes"]) * 60, 60.0
    if len(pieces) > 1 and len(set(pieces)) == 1:
        total /= len(pieces)  # the same twice: "three quarters of an hour, 45 minutes to be exact"
    return Mention("duration", match.start(), match.end(), total, unit, step)


def _clocked(match: re.Match[str]) -> Mention | None:
    minutes, rest = match[5] or match[7], match[6] or match[8]
    if minutes:
        return Mention("duration", match.start(), match.end(), float(int(minutes) * 60 + int(rest)), "second", 1.0)
    days, hours, minutes, seconds = int(match[1] or 0), int(match[2]), int(match[3]), int(match[4])
    if (
        hours < 24
        and not match[1]
        and not (hours == 0 and _COUNTS.search(match.string[max(0, match.start() - 40) : match.start()]))
    ):
        return None
    total = float(days * 86400 + hours * 3600 + minutes * 60 + seconds)
    return Mention("duration", match.start(), match.end(), total, "second", 1.0)


_COUNTS = any_case(r"\b(?:timers?|countdown|duration|stopwatch)\b[^.!?\n]{0,32}$")
"""Words before hours, minutes and seconds that are a duration, not a time of day."""


def _digits(number: str) -> float:
    return 10.0 ** -len(number.partition(".")[2])


def _money(match: re.Match[str]) -> Mention | None:
    groups = {name: text for name, text in match.groupdict().items() if text}
    name = next(iter(groups)).removesuffix("_after")
    code = _GROUPS.get(name, name)
    number = next(text for text in match.groups() if text and re.fullmatch(r"[-+]?\d+(?:\.\d+)?", text))
    value, step, end = float(number), _digits(number), match.end()
    cents = _CENTS.match(match.string, end) or (match[0][-1].isalpha() and _BARE_CENTS.match(match.string, end)) or None
    if cents and step == 1:
        value, step, end = value + int(cents[1]) / 100, 0.01, cents.end()
    named = code if code != "$" else _after(match.string, end)
    return Mention("money", match.start(), end, value, named, step)


def _after(text: str, end: int) -> str:
    found = re.match(r" ?\(?(us|ca|au|nz)d?\b", text[end : end + 8], re.IGNORECASE)
    return {"us": "USD", "ca": "CAD", "au": "AUD", "nz": "NZD"}[found[1].lower()] if found else "$"


def _temperature(match: re.Match[str]) -> Mention | None:
    scale = (match[2] or match[3] or "").lower()[:1]
    unit = {"c": "C", "f": "F"}.get(scale, "")
    return Mention("temperature", match.start(), match.end(), float(match[1]), unit, _digits(match[1]))


def _percent(match: re.Match[str]) -> Mention:
    return Mention("percent", match.start(), match.end(), float(match[1]), "%", _digits(match[1]))


def _quantity(match: re.Match[str]) -> Mention | None:
    dimension, factor = UNITS[match[2].lower()]
    if match[2] == "K":
        return None
    value, step = float(match[1]) * factor, _digits(match[1]) * factor
    return Mention("quantity", match.start(), match.end(), value, dimension, step, factor=factor)


def _bare(match: re.Match[str]) -> Mention | None:
    end = match.end()
    found = re.match(r"[ -]([a-z]{3,20})\b", match.string[end : end + 24], re.IGNORECASE)
    noun, step = found[1].lower().rstrip("s") if found else "", _digits(match[1])
    announced = _IN_UNIT.search(match.string[max(0, match.start() - 60) : match.start()])
    if announced and not noun:
        dimension, factor = UNITS[announced[1].lower().removesuffix("s")]
        value = float(match[1]) * factor
        return Mention("quantity", match.start(), match.end(), value, dimension, step * factor, factor=factor)
    return Mention("number", match.start(), match.end(), float(match[1]), noun, step)


_IN_UNIT = any_case(
    r"(?:\bin |\()(km|mi|kilomet(?:er|re)s?|miles?|met(?:er|re)s?|kilograms?|kg|grams?|pounds?|ounces?|lit(?:er|re)s?"
    r"|yards?)\)?(?:,? (?:that|it|this)(?: is| would be| comes to| makes)?|:| =)[^.;!?\n\d]{0,24}$"
)
"""A unit that is named before its number: ``in miles, that is about 26``, ``distance (km): 8.3``."""
_READERS: tuple[tuple[Lazy, Callable[[re.Match[str]], Mention | None]], ...] = (
    (_CLOCKED, _clocked), (_DATE, _date), (_TIME, _time), (_PHONE, _phone), (_DURATION, _duration), (_MONEY, _money),
    (_TEMPERATURE, _temperature), (_PERCENT, _percent), (_QUANTITY, _quantity), (_NUMBER, _bare),
)  # fmt: skip
