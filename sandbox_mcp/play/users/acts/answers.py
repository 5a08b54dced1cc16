"""Whether what a message tells can be what the user wanted to be told, by the kind of value that the wish asks for.

Policy: a bare fact of another kind is not an answer: a user that asks how far it is has not been answered by a position, nor
by when the place was built; who asks about tomorrow has not been by today. Only bare facts are judged so. A message in
which the agent speaks of itself, or claims that something is done, is believed; and a wish of an unknown kind is
answered by anything.
"""

import re

_NUMBER = (
    r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half|several|few)\b)"
)
_DISTANCE = (
    rf"{_NUMBER}[^.!?\n]{{0,30}}?(?:\b|(?<=\d))(?:km|kms|kilomet\w+|miles?|mi|m|met(?:re|er)s?|feet|ft|yards?|minutes?|mins?|hours?|"
    r"steps|blocks?)\b|\b(?:far|near\w*|close|away|distance|next door|around the corner|stone's throw|walk\w*)\b"
)
_CURRENCY = r"(?:us |american |canadian |australian )?(?:dollars?|bucks|usd|euros?|eur|pounds?|gbp|yen|jpy|francs?|chf|[a-z]{3}\b)"
_MONEY = (
    rf"[$€£¥]\s?\d|{_NUMBER}[\d.,\s]{{0,20}}(?:[a-z]\w{{0,19}} ){{0,2}}?{_CURRENCY}|\b\d[\d,]{{0,15}}\.\d\d\b(?!\d)"
)
_AMOUNT = r"\b(?:convert|how much (?:is|are))\b"
_RATE = r"(?:\b(?:one|1|a single|each) (?:euro|eur|dollar|usd|pound|gbp|yen|unit)|[€$£]\s?1\b)[^.!?\n]{0,80}?\d[\d.,]*|\brate\b[^!?\n]{0,60}?\d[\d.,]*"
_WEATHER = (
    r"\b(?:sun\w*|rain\w*|cloud\w*|snow\w*|wind\w*|storm\w*|fog\w*|mist\w*|dry|wet|clear\w*|degrees|warm\w*|cold\w*|cool\w*|hot|mild|"
    r"high\w*|low\w*|showers?|drizzle|humid\w*|frost\w*|ic[ey]|sk(?:y|ies)|breez\w*|gust\w*|thunder\w*|hail|overcast|coat|umbrella|"
    r"temperatures?|chill\w*|fine|grey|gray|bright|fair|sleet|heat|lovely|nice|bad|good|lightning|gales?|precipitation)\b"
    r"|°|%|\d ?(?:[cf]|mm|cm|in|inch\w*|(?:milli|centi)met\w+|percent|km/h|mph)\b"
)
_SOUGHT = {
    name: (re.compile(asked), re.compile(told))
    for name, asked, told in (
        ("distance", r"\bhow far\b|\bdistance\b", _DISTANCE),
        (
            "money",
            rf"(?m)^(?:(?!{_AMOUNT}).)*{_AMOUNT}.*\b(?:dollars?|euros?|pounds?|yen|francs?|usd|eur|gbp)\b",
            _MONEY,
        ),
        ("weather", r"\b(?:weather|forecast|rain|temperature|umbrella|sunny|snow)\b", _WEATHER),
        ("phone", r"\b(?:phone|telephone|mobile|cell) number\b", r"\d(?:[\s().-]*\d){4}|\b[A-Z]\w+"),
        (
            "days",
            r"\bhow many days\b|\bhow long (?:is it )?until\b",
            _NUMBER + r"|\b(?:today|tomorrow|yesterday|week|month)\b",
        ),
    )
}
"""Kinds of values: the wishes that ask for one, and what a text holds that tells one."""
_OF_ONE = re.compile(_RATE)
_OF_ITSELF = re.compile(
    r"\b(?:i|i've|i'm|i'll|we|my|me|done|here|above|below|attached|ready|answer|result|sorry|no|not|can't|cannot|unable|"
    r"unavailable|impossible)\b|n't\b|\?"
)
_TODAY = re.compile(r"\b(?:today|right now|currently|at the moment|now|at present|yesterday)\b")
_DAY = re.compile(r"\btomorrow\b")


def sought_by(words: str) -> str:
    """The kind of value that a wish in lower case asks for; empty where it is of no kind that is known."""
    return next((name for name, (asked, _) in _SOUGHT.items() if asked.search(words)), "")


def is_beside(text: str, sought: str, wish: frozenset[str]) -> bool:
    """Whether a message is a bare fact that does not answer a wish for ``sought``; linear in the length.

    ``wish`` are the wish's words: where it asks about tomorrow, what is told about today alone is no answer.
    """
    plain = text.casefold().replace("’", "'")
    if not sought or _OF_ITSELF.search(plain):
        return False
    if "tomorrow" in wish and _TODAY.search(plain) and not _DAY.search(plain):
        return True
    rest = _OF_ONE.sub(" ", plain) if sought == "money" else text if sought == "phone" else plain
    _, told = _SOUGHT[sought]
    return not told.search(rest)
