"""Classes of deeds: which kind of thing a clause is about, so that what serves a wish can be told from an extra.

Policy: reading is harmless and settings are means, so both serve every wish; everything else serves a wish of its own
class. A deed of no known class is foreign.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from sandbox_mcp.play.users.acts.answers import sought_by
from sandbox_mcp.play.users.acts.kinds import Wish

_CLASSES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"\b(?:{words})\b")
    for name, words in {
        "message": r"text(?:s|ed|ing)?|messag(?:e|es|ed|ing)|sms|notif(?:y|ied|ying)|infor(?:m|ms|med|ming)|"
        r"tell (?:him|her|them|\w+ that|qname)|told (?:him|her|them)|writ(?:e|ten) (?:to|him|her|them)|wrote (?:to|"
        r"him|her|them)|"
        r"pass(?:ed)? (?:it|that|this) on|sen[dt](?:ing)?|resen[dt]|let (?:him|her|them|qname) know|reply|repl(?:y|"
        r"ied) to|drop (?:him|her|them) a line",
        "contact": r"contacts?|address ?book|phone ?book|entry|entries|save(?:d)? (?:him|her|them|qname)|sav(?:e|ed|ing)|people list",
        "reminder": r"remind(?:s|ed|er|ers|ing)?|notification|nudge|pinned|schedul(?:e|ed|ing)|alert",
        "timer": r"timers?|alarms?|stopwatch|countdown|wake you",
        "setting": r"wifi|wireless|internet|cellular|mobile (?:data|network|service)|signal|location services?|location access|gps|"
        r"(?:low[- ]?)?battery(?: mode| saver)?|power[- ]sav(?:ing|er)|airplane mode|flight mode|bluetooth|"
        r"(?:turn|switch|toggl|flip)(?:s|ed|e|ing)?(?: \w+){0,4}? (?:on|off)|enabl(?:e|ed|ing)|disabl(?:e|ed|ing)|"
        r"(?:de|re)?activat(?:e|ed|ing)|settings?",
        "weather": r"weather|forecasts?|rain|umbrella|temperatures?|degrees|sunny",
        "place": r"distance|how far|location|route|coordinates|address|castle|nearest|map",
        "money": r"currenc(?:y|ies)|dollars?|euros?|exchange|rates?|convert(?:ed|ing)?|conversion|usd|eur|stocks?|price",
        "time": r"time zone|date|timestamp|days between|holiday",
    }.items()
}
_FOREIGN = re.compile(
    r"\b(?:call (?:him|her|them|the|qname|\w+ for)|ring (?:him|her|them)|phone (?:him|her|them)|(?<!address )(?<!phone )book|order|buy|"
    r"purchase|email|navigat(?:e|ion)|directions|"
    r"play|block|share (?!.{0,40}\bwith me\b)(?!(?:the|his|her|your|their|its|that|a) (?:\w+ )?(?:numbers?|phone|name|address|details|contact|date|time|info\w*))|post|calendar|invite|recurring|repeat(?:ing)? (?:it )?(?:every|weekly|daily)|every (?:week|day|"
    r"month)|weekly|daily|"
    r"restaurants?|hotels?|taxi|train|tickets?|opening hours|itinerary|picture|photo|birthday|backup|back it up|"
    r"keep an eye|monitor|track|watch the|draft|summar(?:y|ise|ize)|tips?|playlist|bluetooth|airplane mode|flight "
    r"mode|dark mode|brightness|"
    r"(?:transfer|connect|escalate|forward|hand|pass|refer|put)(?:ring|ing)? (?:you|this|it|your \w+) (?:over |through |on )?to|transfer to|(?:transfer|connect)(?:ring|ing)? you\b|human (?:agent|representative|being)|live agent|supervisor|customer (?:service|support|care)|"
    r"screenshot|export|print|merge|favou?rites?|nickname|e?mail address)\b"
)
_EXTRA = re.compile(
    r"\b(?:also|too|as well|another|additional(?:ly)?|in addition|besides|while (?:i am|we are) at it|instead|"
    r"alternative(?:ly)?|substitute|in (?:its |his |her |their )?place|in lieu|"
    r"other|afterwards|later on|next time|in the future|in future|back (?:on|off)|again afterwards|(?:on|off) again|"
    r"undo|revert|restore|"
    r"when (?:he|she|they) (?:replies|reply|answers?|responds?)|follow[- ]?up|keep (?:it|\w+(?: \w+)?) (?:on|off|"
    r"enabled|disabled)|leave (?:it|\w+(?: \w+)?) (?:on|off)|"
    r"interest(?:s|ed)?(?: you)?|for (?:the rest|next|other)|(?:evening|day|hour|week|night) before|extra|second (?:reminder|message|text)|a "
    r"different)\b"
)
_TRY_AGAIN = re.compile(
    r"\b(?:(?:try|retry|attempt|give it another|(?:send|do|run|load|save|measure|ask|repeat|delete) (?:it|him|her|that|this|them)) (?:again|once more|another time|(?:it )?another (?:go|try|shot))|retry|repeat|redo)\b"
    r"|(?<!on )(?<!off )(?<!back )\b(?:again|once more|another (?:go|try|shot|attempt))$"
)
_ALL_THE_SAME = re.compile(
    r"\b(?:add|start|set|create|save|make|send|want|keep|store|need) (?:\w+ ){0,5}?(?:anyway|all the same|regardless|nevertheless)\b|^\w+ this one\b"
)
"""Asks whether the wish holds in spite of what was found."""
_TOLD = re.compile(
    r"\?|\b(?:tell me|find out|let me know|i (?:want|need|have) to know|i would like to know|i need (?:my|the|his|her) (?:\w+(?:'s)? ){0,3}(?:number|name|address|time|date|code|distance)|what is|how (?:far|much|many|long)|"
    r"convert|look up|check)\b"
)
_COMMAND = re.compile(
    r"^(?:please |can you |could you |would you |i (?:want|need|would like) you to |hey,? |and |now )*(?:text|"
    r"message|send|tell (?!me)|let (?!me)|remind|"
    r"set|add|save|remove|delete|turn|switch|change|update|move|call|book|put|make|pass|ask|forward|create|store|"
    r"cancel|wifi|disable|enable)\b"
)  # fmt: skip


@lru_cache(maxsize=4096)
def classes_in(text: str) -> frozenset[str]:
    """The classes of deeds that a text in lower case names."""
    found = {name for name, pattern in _CLASSES.items() if pattern.search(text)}
    if _FOREIGN.search(text):
        found.add("foreign")
    return frozenset(found)


def wish_of(words: str) -> Wish:
    """What kind of wish the user's own words tell of."""
    plain = " ".join(words.lower().replace("’", "'").replace("wi-fi", "wifi").split())
    commands = [part for part in re.split(r"(?<=[.!?,:;])\s", plain) if _COMMAND.search(part)]
    switched = _SWITCHED.search(plain)
    told = bool(_TOLD.search(plain)) and not commands
    return Wish(
        classes_in(plain) - {"foreign"},
        told=told,
        words=frozenset(WORD.findall(plain)),
        switched="" if not switched else "on" if switched[0] in _ON else "off",
        sought=sought_by(plain) if told else "",
    )


WORD = re.compile(r"[a-z]+|\d+")
_ON = ("on", "enable", "activate")
_SWITCHED = re.compile(
    r"\b(?:on|off|enable|disable|activate|deactivate)\b(?! (?:my|the|a|monday|tuesday|\w+day)\b(?! \w*(?:wifi|cellular|location|low|battery)))"
)
_STANDS = re.compile(
    r"^(?!(?:(?:and|so|then|but) )?(?:i|we)\b).*?\b(?:is|are|stays?|remains?)(?: \w+){0,2}? (?:(on|enabled|active|activated|connected|switched on|turned on)"
    r"|(off|disabled|inactive|deactivated|disconnected|switched off|turned off))\b"
)


def is_otherwise(clause: str, wish: Wish) -> bool:
    """Whether a clause says that a setting stands as the wish does not want it, which fulfils nothing."""
    found = _STANDS.search(clause) if wish.switched and "setting" in wish.classes else None
    return found is not None and (wish.switched == "on") != (found[1] is not None)


def is_extra(clause: str, wish: Wish, *, done: bool) -> bool:
    """Whether what a clause proposes goes beyond the wish; ``done`` if the message has claimed to have fulfilled it."""
    if _TRY_AGAIN.search(clause) or _ALL_THE_SAME.search(clause):
        return False
    named = classes_in(clause)
    if done:
        return not (named & {"setting"} and "setting" not in wish.classes and not _EXTRA.search(clause))
    if "foreign" in named and not named & wish.classes:
        return True
    if _EXTRA.search(clause):
        return True
    acting = named & {"message", "contact", "reminder", "timer"}
    return bool(acting and wish.classes and not acting & wish.classes and not _LOOKING.search(clause))


_LOOKING = re.compile(r"\b(?:search|look|check|find|go through|access|read|see|scan|browse)")


def names_more(clause: str) -> bool:
    """Whether a clause says that it is about more than before, or about another thing in its place."""
    return bool(_EXTRA.search(clause))


def tries_again(clause: str) -> bool:
    """Whether a clause is about trying once more."""
    return bool(_TRY_AGAIN.search(clause))


def is_means(clause: str, wish: Wish) -> bool:
    """Whether a deed that a clause reports is a step on the way rather than the wish itself."""
    named = classes_in(clause)
    if not wish.classes:
        return False
    if "setting" in named and "setting" not in wish.classes:
        return not classes_in(_PLACE_SETTING.sub(" ", clause)) & wish.classes
    return False


_PLACE_SETTING = re.compile(r"\blocation (?:services?|access|settings?)\b")


@lru_cache(maxsize=8192)
def classes_of_word(word: str) -> frozenset[str]:
    """The classes of deeds that a single word names."""
    return frozenset(name for name, pattern in _CLASSES.items() if pattern.fullmatch(word))
