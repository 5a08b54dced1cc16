"""A message in one plain form: typography, markdown, contractions, number words and clock phrases made alike.

Policy: nothing that carries meaning is dropped; a line is a sentence; what stands in quotes keeps its quotes.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping

from sandbox_grader.grading.values import remembered


def table(words: str) -> list[str]:
    """Words written in a row as a list."""
    return words.split()


def one_of(words: str) -> frozenset[str]:
    """Words written in a row as a set."""
    return frozenset(words.split())


FUNCTION_WORDS = one_of(
    "the a an is are was were be been will would it its that this there here of in on at to for by with and or but so "
    "no not from as your you i me my we our us he she they them his her their has have had do does did just only also "
    "now then about if when what how can could all am some any more very really too well out up off into again back "
    "one both two"
)
"""Words without a content of their own."""


def any_case(pattern: str) -> re.Pattern[str]:
    """A pattern for words in capitals, too."""
    return re.compile(pattern, re.IGNORECASE)


_TYPOGRAPHY = {
    **dict.fromkeys(map(ord, "‘’‚‛`´ʼ"), "'"),
    **dict.fromkeys(map(ord, "“”„‟«»"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒−"), "-"),
    **dict.fromkeys(map(ord, "–—―"), "–"),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\ufeff\u00ad*"), None),
    ord("İ"): "I", ord("•"): "\n", ord("→"): " = ", ord("⇒"): " = ", ord("≈"): "about ", ord("~"): "about ",
    ord("|"): " ; ", ord("\t"): " ", ord("…"): ". ",
}  # fmt: skip
_THIN_THOUSANDS = re.compile("(?<=\\d)[\u2009\u202f\u00a0](?=\\d{3}(?!\\d))")
_MEASURE = (
    r"(?:km|kilomet|m\b|met(?:er|re)s?\b|mi\b|mile|feet|ft|cm|mm|kg|kilo|g\b|gram|lbs?\b|pound|l\b|lit(?:er|re)|°"
    r"|degrees?|celsius|percent|%|[$€£¥₹₩]|[A-Z]{3}\b|euro|dollar|yen|yuan|franc|rupee|krone?|kronor|crown|peso|rand\b"
    r"|won\b|days?\b|hours?\b|minutes?\b)"
)
_CONTINENTAL = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3}){1,4}),(\d{1,2})(?![\d,])")
_SPACED = re.compile(
    r"(?<![\d.,:/+-])(?<![\d.,)] )(\d{1,3}(?: \d{3}){1,3})(?=[.,]\d{1,2}(?!\d)"
    rf"|\s?(?:[A-Z][a-z]{{2,12}} )?{_MEASURE})"
    r"|(?:^|(?<=\bis )|(?<=: ))([1-9]\d{0,2}(?: \d{3}){1,2})(?=[.!]?(?:$|\n)| \()"
)
_COMMA = re.compile(
    rf"(?<![\d.,:])(\d{{1,9}}),(\d{{1,2}})(?=\s?{_MEASURE})|(?<=[$€£¥₹₩])(\d{{1,9}}),(\d{{1,2}})(?![\d,])"
)
_APOSTROPHES = re.compile(r"(?<=\d)'(?=\d{3}(?!\d))")
"""Numbers as they are written on the Continent: 1.104,84, 1 104,84 and 1'104.84; 12,5 needs a unit beside it."""
_POINT = any_case(r"\b(\d{1,9}) point ((?:\d ?){1,6})(?!\w)")
_MINUS = re.compile(
    r"\b(?:minus|negative) (?=\d{1,3}(?:\.\d{1,3})? ?(?:°|degrees?|celsius|fahrenheit|[CF]\b))"
    r"|(?:(?<=\bat )|(?<=\bto )|(?<=\bis )|(?<=\band )|(?<=[,:;.] )|^)(?:minus|negative) (?=\d{1,3}\b)",
    re.IGNORECASE | re.MULTILINE,
)
_PICTURE = re.compile(
    "(?<=[\\w%°)€$£¥₹]) ?[\u2600-\u26ff\u2708-\u2712\u2728-\u274b\u274e-\u27bf\U0001f000-\U0001faff\ufe0f]+"
    " +(?=[A-Z]|(?:your?|the|it|i|that|this|there|here|so|and)\\b)"
)
"""A picture behind which a new sentence begins."""
_TICK = re.compile("(?<=[\\w.!]) ?([\u2705\u2713\u2714\u2611\u274c\u2717\u2718])\ufe0f? +(?=[A-Z])")
"""A tick or a cross behind what was done or not, before a new sentence."""
_TRUNK = re.compile(r"(\+\d{1,3}) ?\(0\) ?")
"""A trunk zero in brackets, which is not dialled behind a country's code."""
_LINE_START = re.compile(r"^[ \t]*(?:[-+>#]{1,6}[ \t]|;[ ;:-]*$|; )?[ \t]*", re.MULTILINE)
_UNDERSCORES = re.compile(r"(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)")
_DOTTED = any_case(
    r"\b(?=\w{1,6}+\.)(?:(a|p)\. ?m\b\.?|(e\.g|i\.e|dr|mr|mrs|ms|st|ave|approx|vs|no(?=\. ?\d))\.(?= ?[\w'\"])"
    r"|(?<!['°])(?<!° )((?-i:[A-Z]))\.(?= (?-i:[A-Z])))"
)
_CONTRACTIONS = any_case(r"\b(ca|wo|sha|ai|[a-z]{2,6})n't\b|'(ll|ve|re|m|d|s)\b")
_ENDINGS = {"ll": " will", "ve": " have", "re": " are", "m": " am", "d": " would"}
_PARTICIPLE = any_case(
    r" (?:\w+ly |already |just |also |not |never )?(been|had|said|told|given|gone|got|gotten|seen|taken|sent|written"
    r"|made|put|kept|found|(?!need\b|feed\b|prefer)\w{2,}ed)\b"
)
_SPELT = re.compile(r"(?<![\d.,])\d(?: \d){1,5}(?:, \d(?: \d){1,5}){1,4}(?![\d.])")
"""A telephone number that was told digit by digit, in groups."""
_IS_AFTER = any_case(
    r"\b(?:it|that|there|here|he|she|what|who|where|when|everyone|everybody|everything|nobody|nothing|this|wifi|one|all"
    r"|how)$"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SCALED = any_case(r"\b(\d{1,6}(?:\.\d{1,4})?) (thousand|million|billion|hundred)\b")
_K = re.compile(r"\b(\d{1,6}(?:\.\d{1,3})?)[kK]\b(?!m)")
_CODES = "usd|eur|gbp|jpy|cny|chf|cad|aud|nok|sek|dkk|inr"
_MONEY_SCALED = any_case(
    rf"(?:(?<=[$€£¥₹₩])|(?<=[$€£¥₹₩] )|(?<=\b(?:{_CODES}) ))(\d{{1,6}}(?:\.\d{{1,4}})?) ?(mi?l?[no]|m|bn|b)\b"
    r"|\b(\d{1,6}(?:\.\d{1,4})?) ?(mi?l?[no]|m|bn|b)"
    rf"(?= (?:us )?(?:{_CODES}|dollars|euros|pounds|yen|francs|kron[aeo]r?)\b)"
)
"""Millions and billions of money in one letter; of anything else the letter is meters."""

UNITS: Mapping[str, int] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
TENS: Mapping[str, int] = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
SCALES: Mapping[str, int] = {
    "hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000, "dozen": 12,
}  # fmt: skip
_WORD = "(?:" + "|".join((*UNITS, *TENS, *SCALES)) + ")"
_RUN = any_case(
    rf"\b(?:an? (?=(?:hundred|thousand|million|billion|dozen)\b))?{_WORD}(?:[ -]{_WORD}\b|(?<=hundred) and {_WORD}\b"
    rf"|(?<=thousand) and {_WORD}\b){{0,12}}\b"
)
_PRONOUN_BEFORE = any_case(r"\b(?:this|that|the|another|which|no|any|every|some|each|only|right|wrong|new|old)[ -]$")
_THE = any_case(r"\b(?:the|these|those|other|both|you)[ -]$")
_PRONOUN_AFTER = any_case(
    r" (?:of|to|moment|more|thing|another|sec|time|last|with|who|that|you|i|it|he|she|we|they|or|for|called|on|in|is"
    r"|was)\b|[.,!?;:)]|$"
)
_ORDINALS = table(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
)
_ORDINAL = any_case(r"\b(?:" + "|".join(sorted(_ORDINALS, key=len, reverse=True)).replace("-", "[- ]") + r")\b")
MONTHS = table("january february march april may june july august september october november december")
_MONTH_BEHIND = any_case(rf" (?:day )?(?:of )?(?:{'|'.join(MONTHS)})\b")
_MONTH_BEFORE = any_case(rf"\b(?:{'|'.join(MONTHS)}),? (?:the )?$")
_CLOCK = any_case(
    r"\b(?:(half|quarter|a quarter|\d{1,2})(?: minutes?| mins?)? (past|after|to|till|before) |half )(\d{1,2}|noon"
    r"|midday|midnight)\b(?!:| ?(?:degrees?|°|%|km|m\b|miles|people|minutes|hours|days))"
)
_OCLOCK = any_case(r"\b(\d{1,2}) ?o'clock")
_MANY_SPACES = re.compile(r"[ ]{2,}")
kept = remembered(64, 12_000)
"""Keeps what the last messages were read as: several readers look at one."""


@kept
def plain(text: str) -> str:
    """A message in its plain form, in its own case. Lines stay lines.

    What needs a sign or a word that the text has not is not tried.
    """
    text = _STRUCK.sub(_untrue, text) if "~~" in text or "</" in text else text
    text = _with_old_columns_named(text) if "|" in text else text
    text = _TIMES.sub(" × ", text) if "*" in text else text
    text = text.replace("->", "→") if "->" in text else text
    text = (text if text.isascii() else _THIN_THOUSANDS.sub("", text)).translate(_TYPOGRAPHY)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.replace("°", "\ue000")).replace("\ue000", "°").replace("–", " – ")
    text = _LINE_START.sub("", _unnumbered(text.replace("\r", "\n")))
    if "-" in text:
        text = _PREFIX.sub(r"\1", text)
    if "_" in text:
        text = _UNDERSCORES.sub("", text)
    text = _DOTTED.sub(lambda found: f"{found[1]}m" if found[1] else found[2] or found[3], text)
    if "'" in text:
        text = _CONTRACTIONS.sub(_expanded, text)
    text = text.replace("cannot", "can not").replace("Cannot", "Can not")
    words = frozenset(_LETTERS.findall(text.lower()))
    if not text.isascii():
        text = _PICTURE.sub(". ", _TICK.sub(r" \1. ", text))
    if _DIGIT.search(text):
        text = _ISO.sub(r"\1 \2 ", text)
        text = _THOUSANDS.sub("", _written_with_points(_TRUNK.sub(r"\1 ", text)))
        text = _K.sub(lambda found: f"{float(found[1]) * 1000:.0f}", text)
        text = _MONEY_SCALED.sub(_in_millions, text)
    for needed, pattern, into in _WORDED:
        if not words.isdisjoint(needed):
            text = pattern.sub(into, text)
    return _MANY_SPACES.sub(" ", text)


_TABLE_RULE = re.compile(r"\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+(?:[ \t]*:?-{2,}:?)?")
"""The line between the head of a table and its rows."""
_HEAD_OF_BEFORE = any_case(
    r"\W*(?:the |your )?(?:old|(?:previous|former|original)(?:ly)?|prior|earlier|before|was)\b(?: \w+){0,3}\W*"
)


def _with_old_columns_named(text: str) -> str:
    """The text with the head of a column of what was written before each of its cells, as ``Old price: 3 EUR``."""
    lines = text.split("\n")
    heads: dict[int, str] = {}
    for number, line in enumerate(lines):
        if "|" not in line:
            heads = {}
        elif _TABLE_RULE.fullmatch(line.strip()) and number:
            names = enumerate(_cells_of(lines[number - 1]))
            heads = {place: name.strip(" *_:") for place, name in names if _HEAD_OF_BEFORE.fullmatch(name)}
        elif heads:
            cells = enumerate(_cells_of(line))
            named = (f" {heads[n]}: {cell} " if n in heads and cell.strip() else cell for n, cell in cells)
            lines[number] = f"|{'|'.join(named)}|"
    return "\n".join(lines)


def _cells_of(line: str) -> list[str]:
    return line.strip().removeprefix("|").removesuffix("|").split("|")


_PREFIX = any_case(r"\b(e|re|un)-(?=[a-z]{3})")
"""A prefix that some set apart: e-mailed, re-sent."""
_TIMES = re.compile(r"(?<=\d)(?:\*| \* )(?=\d)")
"""An asterisk that multiplies; all others are markdown."""
_STRUCK = re.compile(r"~~([^~\n]{1,600})~~|<(?:del|s|strike)>([^<\n]{1,600})</(?:del|s|strike)>")


def _untrue(struck: re.Match[str]) -> str:
    """What is struck through, sentence by sentence, as what is not true."""
    return "\n" + _SENTENCE_START.sub("Being struck it is untrue that ", struck[1] or struck[2]) + "\n"


_SENTENCE_START = re.compile(r"^|(?<=[.!?] )(?=[A-Z])")
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:Z\b|[+-]\d\d:?\d\d(?![\d:]))|(?<=T\d\d:\d\d))"
)
"""A moment as programs write it, whose offset from UTC must not be read as a time of day."""
_LETTERS = re.compile(r"[a-z]+")
_DIGIT = re.compile(r"\d")


def _written_with_points(text: str) -> str:
    """Numbers with a decimal comma, or with points, spaces or apostrophes between thousands, as 1104.84."""
    text = _CONTINENTAL.sub(lambda found: f"{found[1].replace('.', '')}.{found[2]}", _APOSTROPHES.sub("", text))
    text = _SPACED.sub(lambda found: (found[1] or found[2]).replace(" ", ""), text)
    return _COMMA.sub(lambda found: f"{found[1] or found[3]}.{found[2] or found[4]}", text)


def _decimal(found: re.Match[str]) -> str:
    """``17 point 4`` and ``3 point 1 4`` as numbers."""
    behind = " " if found[2].endswith(" ") else ""
    return f"{found[1]}.{found[2].replace(' ', '')}{behind}"


_ITEM = re.compile(
    rf"^([ \t>*_-]*)(\d{{1,2}})[.)][ \t]+(?=\S)(?!(?:{'|'.join(MONTHS)})\b)", re.MULTILINE | re.IGNORECASE
)


def _unnumbered(text: str) -> str:
    """A list without its numbers; what may be the answer itself stays, such as "3. That is how many there are."."""
    items = list(_ITEM.finditer(text))
    if not items:
        return text
    in_order = [int(item[2]) for item in items] == list(range(1, len(items) + 1))
    if not in_order and any(text[item.end()].isdigit() for item in items):
        return text
    bare = _ITEM.sub(r"\1", text)
    return bare if len(items) > 1 or _ANY_NUMBER.search(bare) else text


_ANY_NUMBER = any_case(rf"\d|\b{_WORD}\b")
SENTENCE = re.compile(r"[^.!?\n]+(?:[.](?=\w)[^.!?\n]+)*(?:[.!?]+[\"')\]]*|\n|$)")
"""A sentence of a message in plain form, in which a line is one too."""


def is_question(sentence: str) -> bool:
    """Whether a sentence ends with a question mark, be it in quotes or brackets."""
    return sentence.rstrip("\"') \n").endswith("?")


def words_of(text: str) -> frozenset[str]:
    """The words of a text in lower case, those of one letter left out."""
    return frozenset(re.findall(r"[^\W_]{2,}", text.casefold()))


def _expanded(found: re.Match[str]) -> str:
    if found[1]:
        stem = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}.get(found[1].lower(), found[1])
        return (stem.capitalize() if found[1][0].isupper() else stem) + " not"
    ending = found[2].lower()
    behind = _PARTICIPLE.match(found.string, found.end())
    if behind and (ending == "d" or (ending == "s" and behind[1].lower() == "been")):
        return " had" if ending == "d" else " has"
    if ending != "s":
        return _ENDINGS[ending]
    return " is" if _IS_AFTER.search(found.string, max(0, found.start() - 12), found.start()) else "'s"


def _number(found: re.Match[str]) -> str:
    words = re.split(r"[ -]+", found[0].lower())
    if words == ["one"]:
        before = found.string[max(0, found.start() - 8) : found.start()]
        if not before.lower().endswith("point ") and (
            _PRONOUN_BEFORE.search(before) or _PRONOUN_AFTER.match(found.string, found.end())
        ):
            return found[0]
    if len(words) == 1 and UNITS.get(words[0], 0) in (2, 3, 4):
        before = found.string[max(0, found.start() - 8) : found.start()]
        if _THE.search(before) and _PRONOUN_AFTER.match(found.string, found.end()):
            return found[0]
    total, current, last = 0, 0, 0
    for position, word in enumerate(words):
        if word in UNITS or word in TENS:
            value = UNITS.get(word, TENS.get(word, 0))
            if last and last <= 12 and value >= 10 and not total and current == last:
                rest = _number_of(" ".join(words[position:]))
                return f"{current}:{rest:02d}" if rest < 60 else f"{current}.{rest:02d}"
            if last and current >= 13 and value >= 10 and current < 100 and not total:
                return _in_two_halves(current, _number_of(" ".join(words[position:])), found)
            if last and last < 10 and value < 10:
                return " ".join(str(UNITS.get(item, item)) for item in words)
            current, last = current + value, value
        elif word in SCALES:
            scale = SCALES[word]
            if scale >= 1000:
                total, current = total + max(current, 1) * scale, 0
            else:
                current = max(current, 1) * scale
            last = 0
    return str(total + current)


_AT = any_case(r"\b(?:at|by|until|till|from|to|around|before|after|past) $")


def _in_two_halves(first: int, second: int, found: re.Match[str]) -> str:
    """``at eighteen fifteen``, ``twenty twenty-six`` and ``thirty-four ninety-five`` as a time, a year and a price."""
    if first < 24 and second < 60 and _AT.search(found.string[max(0, found.start() - 8) : found.start()]):
        return f"{first}:{second:02d}"
    if 20 < first < 24 and second < 60 and found.span() == (0, len(found.string.rstrip(".!\n "))):
        return f"{first}:{second:02d}"  # which is all that is said
    return f"{first}{second:02d}" if first in (18, 19, 20) else f"{first}.{second:02d}"


def _number_of(words: str) -> int:
    return sum(UNITS.get(word, TENS.get(word, 0)) for word in words.split())


def _ordinal(found: re.Match[str]) -> str:
    number = _ORDINALS.index(found[0].lower().replace(" ", "-")) + 1
    if number < 4 and not (
        _MONTH_BEHIND.match(found.string, found.end())
        or _MONTH_BEFORE.search(found.string, max(0, found.start() - 16), found.start())
    ):
        return found[0]
    return f"{number}th"


def _clock(found: re.Match[str]) -> str:
    named = {"noon": 12, "midday": 12, "midnight": 0}.get(found[3].lower())
    hour = int(found[3]) if named is None else named
    part = (found[1] or "half").lower().removeprefix("a ")
    minutes = {"half": 30, "quarter": 15}.get(part) or (int(part) if part.isdigit() else 0)
    spoken = (
        found[1] is None or part in ("half", "quarter") or "minute" in found[0].lower() or minutes in (5, 10, 20, 25)
    )
    if not spoken or hour > 24 or not 0 < minutes < 60:
        return found[0]
    before = found.string[max(0, found.start() - 5) : found.start()].lower()
    if (found[2] or "") in ("to", "before") and before.endswith("from "):
        return found[0]
    back = (found[2] or "past").lower() in ("to", "till", "before")
    moment = (hour * 60 + (-minutes if back else minutes)) % (24 * 60)
    suffix = " pm" if named == 12 and not back else " am" if named is not None else ""
    hours = moment // 60
    return f"{hours if suffix else (hours - 1) % 12 + 1 if hours <= 12 else hours}:{moment % 60:02d}{suffix}"


def _scaled(found: re.Match[str]) -> str:
    """``3.5 million`` as a number."""
    return f"{float(found[1]) * SCALES[found[2].lower()]:.0f}"


def _in_millions(found: re.Match[str]) -> str:
    """``3.5M`` and ``3.5bn`` as numbers."""
    scale = SCALES["billion" if (found[2] or found[4]).lower().startswith("b") else "million"]
    return f"{float(found[1] or found[3]) * scale:.0f}"


_DIVIDED = r"(hour|mile|kilomet(?:er|re)|kilo|pound|degree|day|week|lit(?:er|re))"
"""What is told in halves and quarters."""
_WORDED: tuple[tuple[frozenset[str], re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (one_of("hundred thousand million billion"), _SCALED, _scaled),
    (frozenset(_ORDINALS), _ORDINAL, _ordinal),
    (frozenset((*UNITS, *TENS, *SCALES)), _RUN, _number),
    (one_of("quarters"), any_case(r"\b(?:3|three)[ -]quarters of an hour\b"), "45 minutes"),
    (one_of("half"), any_case(r"\bhalf an hour\b"), "30 minutes"),
    (one_of("quarter"), any_case(r"\b(?:a )?quarter of an hour\b"), "15 minutes"),
    (one_of("half"), any_case(rf"\ban? {_DIVIDED} and a half\b"), r"1.5 \1s"),
    (one_of("quarter"), any_case(rf"\ban? {_DIVIDED} and a quarter\b"), r"1.25 \1s"),
    (one_of("quarters"), any_case(rf"\ban? {_DIVIDED} and 3[- ]quarters\b"), r"1.75 \1s"),
    (one_of("half"), any_case(rf"\b(\d+) {_DIVIDED}s and a half\b"), r"\1.5 \2s"),
    (one_of("half"), any_case(rf"\bhalf a {_DIVIDED}\b"), r"0.5 \1s"),
    (one_of("half"), any_case(r"\b(\d+)[ -]and[ -]a[ -]half\b"), r"\1.5"),
    (one_of("below"), any_case(r"\b(\d+(?:\.\d+)?) below (?:0|freezing)\b"), r"-\1 degrees"),
    (one_of("above"), any_case(r"\b(\d+(?:\.\d+)?) above 0\b"), r"\1 degrees"),
    (one_of("quarter quarters"), any_case(r"\b(\d+)(?: and|-and-) ?3[- ]quarters?\b"), r"\1.75"),
    (one_of("quarter"), any_case(rf"\b(\d+) and a quarter (?={_DIVIDED}|cup)"), r"\1.25 "),
    (one_of("fortnight"), any_case(r"\b(?:a|one) fortnight\b"), "14 days"),
    (
        one_of("a an"),
        any_case(r"\ban? (?=(?:minute|hour|day|week|month|year|kilomet|mile|meter|metre|euro|dollar|pound)\w*\b)"),
        "1 ",
    ),
    (one_of("noon midday midnight"), any_case(r"\b12(?::00)? (noon|midday|midnight)\b"), r"\1"),
    (one_of("o"), _OCLOCK, r"\1:00"),
    (one_of("past after to till before half"), _CLOCK, _clock),
    (one_of("point"), _POINT, _decimal),
    (one_of("minus negative"), _MINUS, "-"),
    (frozenset(UNITS), _SPELT, lambda found: found[0].replace(",", "")),
)
"""What is made of words, in this order, each with words of which a text has one if there is anything to make."""
