"""Numbers in one form: words for numbers and digits, clock phrases, spelled codes, addresses spoken out, thousands.

Policy: what is spoken is written as people write it: ``twenty-three`` as 23, ``plus one, five five five, oh one nine``
as +1555019, ``half past seven`` as 7:30, ``N A one thirty`` as NA130, ``tessa at fennwood dot example`` as an address.
Words are read one by one from left to right, so that the time is linear; patterns serve what is in figures already.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from sandbox_mcp.engine.talk.patterns import WORDY, Lazy, any_case, one_of
from sandbox_mcp.engine.talk.text import plain

UNITS: Mapping[str, int] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19
}  # fmt: skip
TENS: Mapping[str, int] = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "fourty": 40
}  # fmt: skip
SCALES: Mapping[str, int] = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12}
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS: Mapping[str, int] = {name: number for number, name in enumerate(_ORDINALS.split(), start=1)} | {
    "thirtieth": 30, "fortieth": 40, "fiftieth": 50,
}  # fmt: skip
MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
]  # fmt: skip
_DIGITS: Mapping[str, str] = {
    **{name: str(value) for name, value in UNITS.items() if value < 10}, "oh": "0", "o": "0", "nought": "0",
    "naught": "0", "nil": "0"
}  # fmt: skip
_TIMES_SAID: Mapping[str, int] = {"double": 2, "triple": 3}
_PLURALS: Mapping[str, str] = {
    **{f"{name}s": digit for name, digit in _DIGITS.items()}, "sixes": "6", "zeroes": "0", "noughts": "0"
}  # fmt: skip
_SPOKEN = frozenset((*UNITS, *TENS, *SCALES, *ORDINALS, *_TIMES_SAID, *_DIGITS, "plus", "+"))
_LEAST_DIGITS, _OF_A_PHONE, _MOST_LETTERS = 3, 7, 24
"""Digits in a row that are read as one number, those that make a telephone number; letters of a code at most."""
_NO_NUMBER_BEFORE = one_of(
    "this that another which no any every some each only right wrong new old next last other first the"
)
_NO_NUMBER_AFTER = one_of(
    "of to moment more thing another sec time last with who that you i it he she we they or for called on in is was by"
)
"""Words beside ``one`` that make it a pronoun."""
_SET_BEFORE = one_of("the these those other both you")
"""Words before ``two`` to ``four`` that make them pronouns, where no noun follows."""
_AT = one_of("at by until till from to around before after past about for is")
_MEASURED = one_of("km kilometers kilometres miles meters metres feet yards")
_MONEY = one_of("dollars euros pounds bucks rand francs")


class _Word(NamedTuple):
    text: str
    low: str
    start: int
    end: int


_WORD = Lazy(r"[^\W\d_]+|\d+|\+")
_ADDRESS = any_case(
    r"\b([a-z0-9][\w.-]*+(?: (?:dot|underscore|hyphen"
    r"|dash) [a-z0-9]\w*+){0,3}) at ([a-z0-9][\w-]*+(?: dot [a-z]\w*+){1,3})\b"
)
_ADDRESS_SIGNS: Mapping[str, str] = {
    " dot ": ".", " underscore ": "_", " hyphen ": "-", " dash ": "-", " Dot ": ".", " DOT ": "."
}  # fmt: skip


@lru_cache(maxsize=512)
def figured(message: str) -> str:
    """A message in plain form with its numbers in figures.

    >>> figured("Her number is plus one, two two four, five five five, oh one nine oh; she flies N A one thirty.")
    'Her number is +12245550190; she flies NA130.'
    """
    return in_figures(plain(message))


def in_figures(text: str) -> str:
    """A plain text with numbers in words, or in signs of other countries, written in figures, as 1104.84."""
    if " dot " in text.lower():
        text = _ADDRESS.sub(_address, text)
    if _DIGIT.search(text):
        text = _written_with_points(_TRUNK.sub(r"\1 ", _ISO.sub(r"\1 \2 ", text)))
        text = _THOUSANDS.sub("", text)
        text = _SHORT.sub(_in_full, text)
    text = _from_words(text)
    if not _DIGIT.search(text) and not _PARTS.search(text):
        return text
    return _with_parts(text)


def _address(found: re.Match[str]) -> str:
    name, place = found[1], found[2]
    for spoken, sign in _ADDRESS_SIGNS.items():
        name, place = name.replace(spoken, sign), place.replace(spoken, sign)
    return f"{name}@{place}"


# -- words -----------------------------------------------------------------------------------------------------------


def _from_words(text: str) -> str:
    said = _WORD.findall(text)
    if _SPOKEN.isdisjoint(map(str.lower, said)) and not any(len(one) == len(two) == 1 for one, two in pairwise(said)):
        return text
    words = [_Word(found[0], found[0].lower(), *found.span()) for found in _WORD.finditer(text)]
    made, at, place = list[str](), 0, 0
    while place < len(words):
        word = words[place]
        known = word.low in _SPOKEN
        spelt = not known and len(word.text) == 1 and word.text.isalpha()
        read = _read(text, words, place) if known else _code(text, words, place) if spelt else None
        if read is None:
            place += 1
            continue
        written, place = read
        made += (text[at : word.start], written)
        at = words[place - 1].end
    return "".join((*made, text[at:])) if made else text


def _read(text: str, words: Sequence[_Word], place: int) -> tuple[str, int] | None:
    """What a run of words for numbers that begins here is in figures, and the word behind it."""
    return _digit_by_digit(text, words, place) or _ordinal(text, words, place) or _cardinal(text, words, place)


def _gap(text: str, words: Sequence[_Word], place: int) -> str | None:
    """What stands between a word and the one before it."""
    return text[words[place - 1].end : words[place].start] if 0 < place < len(words) else None


def _digit_by_digit(text: str, words: Sequence[_Word], place: int) -> tuple[str, int] | None:
    """A telephone number or another code read out digit by digit, perhaps in groups, with doubles and tens."""
    begin, sign = place, ""
    if words[place].low == "plus" or words[place].text == "+":
        sign, place = "+", place + 1
        if _gap(text, words, place) not in (" ", "") or (place < len(words) and words[place].low.isdigit()):
            return None
    groups, sizes, singles, oh = [""], [0], 0, False
    end = begin
    while place < len(words):
        gap = _gap(text, words, place)
        if end > begin and sign and words[place].low in _BETWEEN_GROUPS:
            place += 1
            continue
        if end > begin and words[place - 1].low not in _BETWEEN_GROUPS and gap not in _WITHIN_NUMBER:
            break
        piece, step = _piece(text, words, place, figures=bool(groups[0] or sign))
        if not piece:
            break
        if end > begin and gap and gap.strip(" -"):
            groups, sizes = [*groups, ""], [*sizes, 0]
        groups[-1] += piece
        sizes[-1] += 1
        singles += step == 1 and words[place].low in _DIGITS
        oh = oh or words[place].low in ("oh", "o")
        end = place = place + step
    digits = "".join(groups)
    if not singles and not sign:
        return None
    if not sign and oh and len(digits) == 3 and digits[1] == "0" and digits[0] != "0" and len(groups) == 1:
        return f"{digits[0]}:{digits[1:]}", end  # seven oh five
    paired = min(sizes) >= 2
    fits = (
        (len(digits) >= _OF_A_PHONE and (bool(sign) or max(sizes) >= 2))
        or (paired and len(groups) > 1 and len(digits) >= 4 and singles >= _LEAST_DIGITS)
        or (len(groups) == 1 and singles >= _LEAST_DIGITS)
    )  # fmt: skip
    return (sign + digits, end) if fits else None


def _piece(text: str, words: Sequence[_Word], place: int, *, figures: bool) -> tuple[str, int]:
    """The digits that a word or two stand for in a number told digit by digit, and how many words they are."""
    low = words[place].low
    after = words[place + 1].low if place + 1 < len(words) and _gap(text, words, place + 1) in (" ", "-") else ""
    if low in _TIMES_SAID and after in _DIGITS:
        return _DIGITS[after] * _TIMES_SAID[low], 2
    if low in UNITS and after in _PLURALS:
        return _PLURALS[after] * UNITS[low], 2
    if low in TENS and after in _DIGITS and after not in ("oh", "o", "zero"):
        return f"{TENS[low] // 10}{_DIGITS[after]}", 2
    if low in UNITS and after == "hundred":
        return f"{UNITS[low]}00", 2
    if low in _DIGITS:
        return _DIGITS[low], 1
    if low in TENS or low in UNITS:
        return str(TENS.get(low) or UNITS[low]), 1
    return (low, 1) if figures and low.isdigit() else ("", 0)


_WITHIN_NUMBER = (" ", "-", ", ", " – ", ",", " - ", "; ", ") ", "/", "")
_BETWEEN_GROUPS = one_of("then and")


def _ordinal(text: str, words: Sequence[_Word], place: int) -> tuple[str, int] | None:
    word, number, end = words[place], 0, place + 1
    if word.low in ORDINALS:
        number = ORDINALS[word.low]
        before = [words[n].low for n in (place - 1, place - 2) if n >= 0 and _gap(text, words, n + 1) in (" ", ", ")]
        behind = [words[n].low for n in (place + 1, place + 2) if _gap(text, words, n) == " "]
        if number < 4 and not any(
            name in MONTHS for name in (*before[:1], *(before[1:] if before[:1] == ["the"] else ()), *behind)
        ):
            return None
    elif word.low in TENS and end < len(words) and _gap(text, words, end) in (" ", "-"):
        number = ORDINALS.get(words[end].low, 0)
        number, end = (TENS[word.low] + number, end + 1) if 0 < number < 10 else (0, end)
    return (f"{number}th", end) if number else None


def _cardinal(text: str, words: Sequence[_Word], place: int) -> tuple[str, int] | None:
    begin, low = place, words[place].low
    if low not in UNITS and low not in TENS and low not in SCALES:
        return None
    said = list[str]()
    while place < len(words):
        word = words[place]
        gap = _gap(text, words, place) if said else " "
        joined = gap in (" ", "-")
        if joined and (
            word.low in UNITS or word.low in TENS or word.low in SCALES or (word.low in ("oh", "o") and said)
        ):
            if word.low in ("o", "oh") and (place + 1 >= len(words) or words[place + 1].low not in UNITS):
                break
            said.append(word.low)
            place += 1
        elif (
            joined and word.low == "and" and said and said[-1] in ("hundred", "thousand") and place + 1 < len(words)
            and (words[place + 1].low in UNITS or words[place + 1].low in TENS)
        ):  # fmt: skip
            place += 1
        else:
            break
    before = words[begin - 1].low if begin and text[words[begin - 1].end : words[begin].start] in (" ", "-") else ""
    after = words[place].low if place < len(words) and _gap(text, words, place) in (" ", "-") else ""
    if (
        said == ["one"]
        and before != "point"
        and (before in _NO_NUMBER_BEFORE or after in _NO_NUMBER_AFTER or not after)
    ):
        return None
    if (
        len(said) == 1
        and said[0] in ("two", "three", "four")
        and before in _SET_BEFORE
        and (not after or after in _NO_NUMBER_AFTER)
    ):
        return None
    return _value(said, before, after, alone=not before and not after), place


def _value(said: Sequence[str], before: str, after: str, *, alone: bool) -> str:
    """The number that words come to: a time, a year or a price where they are not one number by themselves."""
    total = current = last = 0
    for position, word in enumerate(said):
        if word in ("oh", "o"):
            return f"{current}:0{UNITS[said[position + 1]]}"
        if word in UNITS or word in TENS:
            value = UNITS.get(word, TENS.get(word, 0))
            rest = sum(UNITS.get(item, TENS.get(item, 0)) for item in said[position:])
            if last and last <= 12 and value >= 10 and not total and current == last:
                if after in _MEASURED or before == "point":
                    return f"{current}{rest:02d}"
                return f"{current}:{rest:02d}" if rest < 60 and after not in _MONEY else f"{current}.{rest:02d}"
            if last and current >= 13 and value >= 10 and current < 100 and not total:
                if current < 24 and rest < 60 and (before in _AT or (current > 20 and alone)):
                    return f"{current}:{rest:02d}"
                return f"{current}{rest:02d}" if current in (18, 19, 20) else f"{current}.{rest:02d}"
            if last and last < 10 and value < 10:
                return " ".join(str(UNITS.get(item, item)) for item in said)
            current, last = current + value, value
        else:
            scale = SCALES[word]
            if scale >= 1000:
                total, current = total + max(current, 1) * scale, 0
            else:
                current = max(current, 1) * scale
            last = 0
    return str(total + current)


def _cased(letter: str) -> str:
    return "upper" if letter.isupper() else "lower" if letter.isalpha() else ""


def _code(text: str, words: Sequence[_Word], place: int) -> tuple[str, int] | None:
    """A spelled code: two capitals or three letters, and the digits or words for numbers behind them."""
    begin, case = place, _cased(words[place].text)
    longest = min(len(words), begin + _MOST_LETTERS)
    while place < longest and len(words[place].text) == 1 and _cased(words[place].text) == case:
        if place > begin and _gap(text, words, place) not in (" ", "-", ". ", ".", ", "):
            break
        place += 1
    letters = "".join(word.text for word in words[begin:place])
    if case == "lower" and (len(letters) < _LEAST_DIGITS or letters[0] in "ai"):
        return None
    digits, end = "", place
    while end < len(words) and _gap(text, words, end) in (" ", "-", ", "):
        low = words[end].low
        if low in _DIGITS or low in UNITS:
            digits += _DIGITS.get(low, str(UNITS.get(low, "")))
        elif low in TENS:
            after = words[end + 1].low if end + 1 < len(words) and _gap(text, words, end + 1) in (" ", "-") else ""
            both = after in _DIGITS and after not in ("zero", "oh", "o")
            digits, end = digits + str(TENS[low] + (int(_DIGITS[after]) if both else 0)), end + both
        elif low.isdigit():
            digits += low
        else:
            break
        end += 1
    if len(letters) < 2 or (not digits and (len(letters) < 3 or "I" in letters)):
        return None
    return letters + digits, end


# -- figures ---------------------------------------------------------------------------------------------------------

_DIGIT = Lazy(r"\d")
_MEASURE = (
    r"(?:km|kilomet|m\b|met(?:er|re)s?\b|mi\b|mile|feet|ft|cm|mm|kg|kilo|g\b|gram|lbs?\b|pound|l\b|lit(?:er|re)|°"
    r"|degrees?|celsius|percent|%|[$€£¥₹₩]|[A-Z]{3}\b|euro|dollar|yen|yuan|franc|rupee|krone?|kronor|crown|peso|rand\b"
    r"|won\b|kr\b|days?\b|hours?\b|minutes?\b)"
)
_ISO = Lazy(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:Z\b|[+-]\d\d:?\d\d(?![\d:]))|(?<=T\d\d:\d\d))"
)
"""A moment as programs write it, whose offset from UTC must not be read as a time of day."""
_TRUNK = Lazy(r"(\+\d{1,3}) ?\(0\) ?")
"""A trunk zero in brackets, which is not dialled behind a country's code."""
_CONTINENTAL = Lazy(
    rf"(?=\d)(?:(?<![\d.,])(?P<dots>\d{{1,3}}(?:\.\d{{3}}){{1,4}}),(?P<cents>\d{{1,2}})(?![\d,])"
    rf"|(?<![\d.,:/+-])(?<![\d.,)] )(?P<spaced>\d{{1,3}}(?: \d{{3}}){{1,3}})(?=[.,]\d{{1,2}}(?!\d)"
    rf"|\s?(?:[A-Z][a-z]{{2,12}} )?{_MEASURE})"
    r"|(?<![\d.,:/+#)-])(?<!\d[.,)] )(?<![\d)] )(?P<alone>[1-9]\d{0,2}(?: \d{3}){1,3})(?![\d:%]|[.,-]\d| [(]?\d))"
)
_COMMA = Lazy(rf"(?<![\d.,:])(\d{{1,9}}),(\d{{1,2}})(?=\s?{_MEASURE})|(?<=[$€£¥₹₩])(\d{{1,9}}),(\d{{1,2}})(?![\d,])")
_THOUSANDS = Lazy(r"(?<=\d)[,'](?=\d{3}(?!\d))")
"""Numbers as they are written on the Continent: 1.104,84, 1 104,84 and 1'104.84; 12,5 needs a unit beside it."""
_CODES = "usd|eur|gbp|jpy|cny|chf|cad|aud|nok|sek|dkk|inr"
_SHORT = any_case(
    r"(?=\d)(?:\b(\d{1,6}(?:\.\d{1,4})?) (thousand|million|billion|hundred)\b|\b(\d{1,6}(?:\.\d{1,3})?)(k)\b(?!m)"
    rf"|(?:(?<=[$€£¥₹₩])|(?<=[$€£¥₹₩] )|(?<=\b(?:{_CODES}) ))(\d{{1,6}}(?:\.\d{{1,4}})?) ?(mi?l?[no]|m|bn|b)\b"
    r"|\b(\d{1,6}(?:\.\d{1,4})?) ?(mi?l?[no]|m|bn|b)"
    rf"(?= (?:us )?(?:{_CODES}|dollars|euros|pounds|yen|francs|kron[aeo]r?)\b))"
)
"""Thousands in words or letters; one letter for millions and billions is of money, of all else it is meters."""
_LETTERS: Mapping[str, int] = {"k": 1000, "m": 10**6, "b": 10**9}


def _in_full(found: re.Match[str]) -> str:
    number, scale = [item for item in found.groups() if item]
    return f"{float(number) * (SCALES.get(scale.lower()) or _LETTERS[scale[0].lower()]):.0f}"


def _written_with_points(text: str) -> str:
    def points(found: re.Match[str]) -> str:
        if found["dots"]:
            return f"{found['dots'].replace('.', '')}.{found['cents']}"
        return (found["spaced"] or found["alone"]).replace(" ", "")

    text = _CONTINENTAL.sub(points, text)
    return _COMMA.sub(lambda found: f"{found[1] or found[3]}.{found[2] or found[4]}", text) if "," in text else text


_PARTS = any_case(
    r"\b(?:half|quarters?|an? (?:hour|minute|day|week|month|year|mile|kilo|met|euro|dollar|pound|fortnight)|noon"
    r"|midday|midnight)"
)
_DIVIDED = r"(hour|mile|kilomet(?:er|re)|kilo|pound|degree|day|week|lit(?:er|re)|year|minute|month)"
_MIXED = any_case(
    rf"\b(?:(\d+|an?) )?{_DIVIDED}s? and (?:an? (half|quarter)|(?:3|three)[- ](quarter)s)\b"
    rf"|\b(\d+)[ -]and[ -](?:a[ -])?(half|(?:3|three)[- ]quarters?|quarter(?= (?:{_DIVIDED[1:-1]}|cup)))\b"
)
_PART = any_case(rf"\b(?:an? )?(half|quarter|(?:3|three)[- ]quarters)(?: of)? an? {_DIVIDED}\b")
_A_UNIT = any_case(
    r"\ban? (?:(fortnight)\b|(?=(?:minute|hour|day|week|month|year|kilomet|mile|meter|metre|euro|dollar|pound)\w*\b))"
)
_BELOW = any_case(
    r"(?<![-\d.])(\d+(?:\.\d+)?)( ?(?:°|degrees?)(?: ?(?:celsius|c\b))?)? (below|above) (?:0|zero|freezing)\b"
)
_POINT = any_case(r"\b(\d{1,9}) point ((?:\d ?){1,6})(?!\w)")
_MINUS = Lazy(
    r"\b(?:minus|negative) (?=\d{1,3}(?:\.\d{1,3})? ?(?:°|degrees?|celsius|fahrenheit|[CF]\b))"
    r"|(?:(?<=\bat )|(?<=\bto )|(?<=\bis )|(?<=\band )|(?<=[,:;.] )|^)(?:minus|negative) (?=\d{1,3}\b)",
    WORDY | re.MULTILINE,
)
_CLOCK = any_case(
    r"\b(?:12(?::00)? (?=(?:noon|midday|midnight)\b)|(\d{1,2}) ?o'? ?clock|(?:(half|quarter|a quarter|\d{1,2})(?:"
    r" minutes?| mins?)? (past|after|to|till|before) |half )(\d{1,2}|noon|midday|midnight)\b(?!:| ?(?:degrees?|°|%|km"
    r"|m\b|miles|people|minutes|hours|days)))"
)
_SHARES: Mapping[str, float] = {"half": 0.5, "quarter": 0.25}


def _with_parts(text: str) -> str:
    """Halves, quarters, clock phrases, decimal points and signs that were spoken, in figures."""
    low = text.lower()
    if "half" in low or "quarter" in low:
        text = _PART.sub(_of_a_unit, _MIXED.sub(_mixed, text))
    text = _A_UNIT.sub(lambda found: "14 days" if found[1] else "1 ", text)
    if "clock" in low or " past " in low or " to " in low or "half " in low or "12" in low or " after" in low:
        text = _CLOCK.sub(_clock, text)
    if " point " in low:
        text = _POINT.sub(lambda found: f"{found[1]}.{found[2].replace(' ', '')}{' ' * found[2].endswith(' ')}", text)
    if "minus" in low or "negative" in low:
        text = _MINUS.sub("-", text)
    if "below" in low or "above" in low:
        text = _BELOW.sub(lambda it: f"{'-' * (it[3].lower() == 'below')}{it[1]}{it[2] or ' degrees'}", text)
    return text


def _share(words: str) -> float:
    return _SHARES.get(words.lower(), 0.75)


def _mixed(found: re.Match[str]) -> str:
    if found[5]:
        return f"{int(found[5]) + _share(found[6]):g}"
    whole = int(found[1]) if (found[1] or "").isdigit() else 1
    part = 0.75 if found[4] else _share(found[3])
    return f"{whole + part:g} {found[2]}s" if found[1] else found[0]


def _of_a_unit(found: re.Match[str]) -> str:
    part = _share(found[1])
    return f"{60 * part:g} minutes" if found[2].lower() == "hour" else f"{part:g} {found[2]}s"


def _clock(found: re.Match[str]) -> str:
    if found[1]:
        return f"{found[1]}:00"
    if not found[4]:
        return ""
    named = {"noon": 12, "midday": 12, "midnight": 0}.get(found[4].lower())
    hour = int(found[4]) if named is None else named
    part = (found[2] or "half").lower().removeprefix("a ")
    minutes = {"half": 30, "quarter": 15}.get(part) or (int(part) if part.isdigit() else 0)
    spoken = (
        found[2] is None or part in ("half", "quarter") or "minute" in found[0].lower() or minutes in (5, 10, 20, 25)
    )
    if not spoken or hour > 24 or not 0 < minutes < 60:
        return found[0]
    back = (found[3] or "past").lower() in ("to", "till", "before")
    if back and found.string[max(0, found.start() - 5) : found.start()].lower().endswith("from "):
        return found[0]
    moment = (hour * 60 + (-minutes if back else minutes)) % (24 * 60)
    suffix = " pm" if named == 12 and not back else " am" if named is not None else ""
    hours = moment // 60
    return f"{hours if suffix else (hours - 1) % 12 + 1 if hours <= 12 else hours}:{moment % 60:02d}{suffix}"
