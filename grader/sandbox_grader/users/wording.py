"""A coarse reading of what an agent said, for the checks of users: does it wait, refuse, announce, report?

Policy: independent on purpose of how any user reads, whose mistakes it is to find. It is only asked where the log's
facts already speak against the user, and says "neither" rather than guess.
"""

import re
from collections.abc import Iterator, Sequence

from sandbox_grader.grading.values import remembered
from sandbox_mcp.engine.talk.text import without_reasoning

_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*|[.!?\n]+")
_ELSE = re.compile(
    r"\b(?:any|some)thing (?:else|more)\b|\bhow else\b|\bwhat else\b|\b(?:further|more|other) (?:help|assistance|"
    r"questions?)\b"
    r"|\b(?:need|want) anything\b",
    re.IGNORECASE,
)
_WAITS = re.compile(
    r"\b(?:please|kindly) (?:tell|give|provide|share|send|specify|confirm|clarify|choose|say|supply|reply|let me "
    r"know)\b"
    r"|\blet me know (?:if i|if you(?:['’]d| would) like me to|which|what|when|where|who|how|whether|the|your|his|"
    r"her)\b"
    r"|\b(?:once|if|when|as soon as) you(?:['’]ve| have)? (?:confirm|approve|agree|say yes|tell|give|provide|share)"
    r"|\bi(?:['’]ll| will|['’]d| would| still| also)* need (?:a (?:bit|little|few)|some|more|your|his|her|their|the|"
    r"to know|you to)\b"
    r"|\breply (?:with )?\W?(?:yes|ok|go|confirm)\b|\btell me (?:the|your|his|her|which|what|when|where|who|how)\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:can(?:no|['’]?)t|can not|could(?: not|n['’]t)|unable|not able|not possible|impossible|no (?:way|tool|"
    r"tools|access|longer|means|function|such)|"
    r"(?:do|does|did|is|are|was|were|has|have|will|would)(?: not|n['’]t)|(?:there (?:is|are|was|were)|i (?:have|see|"
    r"found)) no(?:t a|t any|body|thing)?|"
    r"none|nobody|nothing|never|beyond|outside|without|lacks?|fail(?:ed|s|ing)?|sorry|afraid|unfortunately|regret\w*|"
    r"unavailable|unsupported|not|no)\b",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"\b(?:i['’]ll|i will|i am going to|i['’]m going to|i shall|let me|let['’]s|allow me|(?:one|just a|give me a) "
    r"(?:moment|second|sec|minute)|hold on|hang on|bear with me|"
    r"right away|on it|working on|in a moment|(?:i am|i['’]m) (?:now )?\w+ing)\b|^\W*(?:checking|looking|searching|"
    r"sending|working|setting)\b",
    re.IGNORECASE,
)  # fmt: skip
_PAST = re.compile(
    r"\b(?:i(?:['’]ve| have)? (?:\w{1,20}ly |just |now |already |also ){0,4}(?!need)(?:\w{3,}ed|sent|set|put|told|"
    r"wrote|made|found|took|got|gave|left|let)|"
    r"(?:has|have|had|was|were|is|are|been|it['’]s|['’]s) (?:\w{1,20}ly |just |now |already |been ){0,4}(?:\w{3,}ed|"
    r"sent|set|done|off|on|out|gone|told|saved|in)|"
    r"done|sent|deleted|saved|removed|added|delivered|knows?)\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_QUOTED = re.compile(r'"[^"\n]{0,600}"|“[^”\n]{0,600}”|(?m:^[ \t]*>.*$)')
_OPENED = ("what", "when", "where", "which", "who", "whom", "whose", "how")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text."""
    return (part.strip() for part in _SENTENCE.findall(text) if part.strip())


@remembered(256)
def waiting_in(text: str) -> Sequence[str]:
    """The sentences in which an agent waits for an answer; offers of more help in general do not count."""
    spoken = _QUOTED.sub("_", without_reasoning(text))  # what others ask is no question of the agent's
    waits = (part for part in sentences(spoken) if part.endswith("?") or _WAITS.search(part))
    return tuple(part for part in waits if not _ELSE.search(part))


def is_open_question(sentence: str) -> bool:
    """True if a question cannot be answered with yes."""
    return sentence.endswith("?") and sentence.lower().lstrip("*_ ").startswith(_OPENED)


@remembered(256)
def denies(text: str) -> bool:
    """True if a text says no to anything, so that it may be a refusal."""
    return bool(_NOT.search(text))


def announces(text: str) -> bool:
    """True if a text speaks of what comes next, and neither reports anything nor says no."""
    return bool(_AHEAD.search(text)) and not _PAST.search(text) and not denies(text) and not _DIGIT.search(text)


def says_nothing_done(text: str) -> bool:
    """True if a text reports nothing and refuses nothing."""
    return not _PAST.search(text) and not denies(text) and not _DIGIT.search(text)
