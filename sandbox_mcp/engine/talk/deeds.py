"""Deeds in words: the one table of verbs for what tools do, and where a message claims that something was done.

Policy: a world's actions declare with which verbs they are told (``said``), in any form; kinds group verbs, so that a
reminder that was moved by removing it and adding another may be told as moved. Only the past, the perfect and a state
that follows ("is set") claim a deed: plans, offers, questions and advice do not.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sandbox_mcp.engine.talk.clauses import Clause, Talk
from sandbox_mcp.engine.talk.patterns import Lazy, one_of

VERBS: Mapping[str, str] = {
    "send": "send text message email mail forward notify inform reply deliver relay tell",
    "remind": "schedule remind set",
    "add": "add save store create enter register",
    "remove": "remove delete erase clear cancel unsend empty wipe",
    "change": "change update modify edit move reschedule postpone rename correct adjust shift swap replace extend "
    "reset mark relabel complete shorten",
    "switch": "turn switch enable disable activate deactivate reconnect disconnect",
    "timer": "start stop pause set extend cancel",
    "stop": "stop cancel remove delete",
    "signin": "sign log unlock",
}
"""Verbs by the kind of deed that they claim, in their base form."""
DONE_AS: Mapping[str, str] = {
    "send": "send mail post",
    "remind": "remind add timer change event alarm",
    "change": "change add remove remind send switch complete reset timer",
    "add": "add remind event signin register create timer change",
    "remove": "remove stop timer cancel change",
    "switch": "switch change timer stop",
    "timer": "timer remind add alarm remove change stop",
    "signin": "signin switch change",
    "stop": "remove timer stop",
}
"""Kinds of calls by which a verb of a kind may have been done."""
_TELLING: Mapping[str, str] = {
    "send": r"text|message|tell|told|let|knows?|know|wrote|written|asked|answered|reached|went (?:out|through)"
    r"|gone out|on its way"
    r"|is out|has your|have your|contacted|thanked|passed|note|question|ordered|apologi[sz]ed|invited|warned|pinged"
    r"|dropped",
    "remind": r"remind\w*|reminders?|saved?|added|created|alarm|alert|noted|put|in place|entered|entry"
    r"|on your calendar|booked|nudge",
    "add": r"add|put|in (?:your|the) (?:contacts|address book|phone)|on (?:your|the) list|entry|recorded|made|new"
    r"|included|listed|got",
    "remove": r"gone|no longer|any ?more|(?:taken|took) (?:\w+ ){0,3}?(?:out|off|down)|dropped|rid of"
    r"|(?:off|out of) (?:your|the)|stopped|history|tidied|call(?:ed)? off"
    r"|now empty|left(?: is| are)?|discarded|binned|got rid",
    "change": r"now|saved|added|listed|instead|fixed|pushed|put|set|labell?ed|called|reads|attached|tied|linked|pinned"
    r"|later|earlier|back|brought"
    r"|ticked|traded|is work|at \d|got|from \d|bumped|topped",
    "switch": r"on|off|active|connected|restored|back|in|out of|up|down|live",
    "timer": r"timers?|running|ticking|counting|countdown|going|rings?|ring|alarm|added|up",
    "stop": r"cancell?ed|removed|deleted|off|gone|no longer|ended|silenced|turned|killed|any ?more|halted",
    "signin": r"in|out|unlocked|access|account",
}
"""Further words that tell of a deed; a deed that the world proves may be told by any of them."""
_DONE = (
    r"done|all set|taken care of|complete|sorted|finished|handled|success\w*|ready|worked|settled|confirmed"
    r"|everything (?:is|worked)|as (?:you )?(?:asked|requested|wished|agreed)|hecho|listo|erledigt|fertig|fait"
)
OWN_WORK = one_of(
    "set add save store create enter register move change update modify edit correct adjust shift swap replace "
    "extend reset mark clear remove empty wipe start stop pause turn switch unlock relay deliver cancel complete tell "
    "reply log"
)
"""Verbs that people also use of their own work (added up, started with); what they were done to decides."""
_IRREGULAR: Mapping[str, str] = {
    "send": "sent", "tell": "told", "set": "set", "let": "let", "put": "put", "get": "got", "write": "wrote",
    "make": "made", "take": "took", "give": "gave", "pay": "paid", "buy": "bought", "unsend": "unsent",
    "reset": "reset", "leave": "left", "bring": "brought", "find": "found", "keep": "kept", "hold": "held",
    "lend": "lent", "cut": "cut", "stop": "stopped", "log": "logged", "cancel": "cancelled", "label": "labelled",
    "relabel": "relabelled", "swap": "swapped", "drop": "dropped", "go": "went", "do": "done", "sell": "sold",
    "shut": "shut", "ship": "shipped", "withdraw": "withdrew", "spend": "spent", "draw": "drew", "run": "ran",
    "pin": "pinned"
}  # fmt: skip
_BASES: Mapping[str, str] = {past: base for base, past in _IRREGULAR.items()} | {
    "canceled": "cancel", "labeled": "label", "written": "write", "taken": "take", "given": "give", "running": "start",
    "gone": "remove"
}  # fmt: skip


def past_of(verb: str) -> str:
    """The past form of a verb in its base form; a word in its past form already stays.

    >>> past_of("notify"), past_of("save"), past_of("sent")
    ('notified', 'saved', 'sent')
    """
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _BASES or verb.endswith("ed"):
        return verb
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2:-1] not in "aeou" else f"{verb}ed"


@lru_cache(maxsize=4096)
def base_of(word: str) -> str:
    """The base form of a verb in its past form; another word as it is."""
    if word in _BASES:
        return _BASES[word]
    return _KNOWN_PASTS.get(word, word)


_KNOWN_PASTS: Mapping[str, str] = {past_of(verb): verb for row in VERBS.values() for verb in row.split()}


def kinds_claimed(verb: str) -> frozenset[str]:
    """The kinds of deeds that a verb claims, in whichever form."""
    base = base_of(verb)
    return frozenset(kind for kind, row in VERBS.items() if base in row.split())


# -- tools -----------------------------------------------------------------------------------------------------------

_WORD_KINDS: Mapping[str, str] = {
    "send": "send", "text": "send", "message": "send", "sms": "send", "reply": "send", "email": "send", "mail": "send",
    "forward": "send", "reminder": "remind", "remind": "remind", "alarm": "remind timer", "schedule": "remind add",
    "event": "remind add", "add": "add", "create": "add", "save": "add", "insert": "add", "new": "add",
    "remove": "remove", "delete": "remove", "cancel": "remove timer", "clear": "remove", "modify": "change",
    "update": "change", "edit": "change", "rename": "change", "move": "change", "reschedule": "change",
    "change": "change", "set": "change", "timer": "timer", "stop": "timer", "start": "timer", "pause": "timer",
    "status": "switch", "toggle": "switch", "switch": "switch", "sign": "signin", "login": "signin",
    "logout": "signin", "log": "signin"
}  # fmt: skip
"""The kinds of deeds that a word in a tool's name tells."""
_LOOKING = one_of("get query search find list show convert look calculate unit timestamp datetime shift")
_NAME_PARTS = Lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
KINDS = frozenset(VERBS)


@lru_cache(maxsize=1024)
def kinds_of(tool: str) -> frozenset[str]:
    """The kinds of deeds that a tool's name tells: ``add_reminder`` and ``AddReminder`` add and remind."""
    words = [word.lower() for word in _NAME_PARTS.findall(tool)]
    if not words or words[0] in _LOOKING:
        return frozenset({"read"})
    kinds = {kind for word in words if word != "phone" for kind in _WORD_KINDS.get(word, word).split()}
    if "message" in words and words[0] != "send":
        kinds.discard("send")
    if "switch" in kinds:
        kinds.discard("change")  # a service that is set on is switched, and changes no entry
    return frozenset(kinds)


# -- telling ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def telling(kinds: tuple[str, ...]) -> Lazy:
    """Words that tell of a deed of some kinds, and that anything was done."""
    verbs = (past_of(verb) for kind in kinds for verb in VERBS.get(kind, "").split())
    rows = (*verbs, "canceled", *(_TELLING[kind] for kind in kinds if kind in _TELLING), _DONE)
    return Lazy(rf"(?<!to )\b(?:{'|'.join(dict.fromkeys(rows))})\b|[✅✓✔☑👍🎉]")


@lru_cache(maxsize=1024)
def own_words(said: tuple[str, ...]) -> Lazy:
    """The words that tools declare for telling of them, in any form."""
    return Lazy(rf"(?<!to )\b(?:{'|'.join(way for words in said for way in _forms(words)) or '(?!)'})\b")


def _forms(words: str) -> Iterator[str]:
    """A declared word or phrase as it is and in the past; with its particle also around what it was done to."""
    verb, _, rest = words.lower().partition(" ")
    for form in dict.fromkeys((verb, past_of(verb) if verb in VERBS_KNOWN or verb in _IRREGULAR else verb)):
        yield re.escape(f"{form} {rest}".strip())
        if rest in _PARTICLES:
            yield rf"{re.escape(form)} (?:\w+ ){{1,4}}?{rest}"


_PARTICLES = one_of("off out up in back on down away over through")
VERBS_KNOWN = frozenset(verb for row in VERBS.values() for verb in row.split())


@lru_cache(maxsize=512)
def denying(kinds: tuple[str, ...]) -> Lazy:
    """Verbs of some kinds in any form, as a denial has them."""
    words = {stem(verb) for kind in kinds for verb in VERBS.get(kind, "").split()}
    more = {"send": "let|reach|sent|told", "remind": "sav|creat|put|add", "remove": "get rid", "timer": "running"}
    rows = [*sorted(map(re.escape, words)), *(more[kind] for kind in kinds if kind in more)]
    return Lazy(rf"\b(?:{'|'.join(rows)})\w*")


def stem(word: str) -> str:
    """A word without its most usual endings."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


LATER = Lazy(
    r"\b(?:will|shall|going to|about to|let me|would|want(?:ed)? (?:me )?to|need to|have to|has to|must|should|to be"
    r"|ready to|plan(?:ning)? to|try to|tried to|trying|can|could|may|might|soon|pending|drafted|draft|queued|almost"
    r"|nearly|planned|am (?:now )?\w+ing|here is (?:what|the))\b|^\W*(?:now |ok(?:ay)?,? )?\w+ing (?:that|it|this|your"
    r"|the) \w+"
)
"""Plans, offers and what is under way."""
ADVICE = Lazy(
    r"\W*(?:you (?:can|could|may|might|should|will (?:need|have) to|need to)|please|(?:then |just )?(?:open|go to|tap"
    r"|press|choose|select|switch|turn) )\b"
)


# -- claiming --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClaimedDeed:
    """A verb that claims a deed: in its base form, with its clause, and whether the first person did it.

    ``span`` is where the verb stands in the clause.
    """

    verb: str
    clause: Clause
    mine: bool
    span: tuple[int, int]


_ADVERBS = (
    r"(?:(?:also|just|already|now|then|even|both|all|successfully|\w+ly|went ahead and|gone ahead and|managed to"
    r"|was able to) )*"
)
_I_DID = Lazy(
    rf"\b(?:i|we)(?: have| had)? {_ADVERBS}(?P<verb>\w+)\b(?! (?:you|me|us|myself|earlier|above|before|up|with|into"
    rf"|together|by|through|over)\b)"
)
_DID = Lazy(
    rf"(?:^\W*|\band |\bthen |\bplus )(?:(?:and|then|also|just|already|have) )*{_ADVERBS}(?P<verb>\w+)\b(?! (?:you"
    rf"|me|us|by|from|in|at)\b| \w+ (?:can|will|are|is|may|do)\b)"
)
_WAS_DONE = Lazy(
    r"\b(?:(?P<been>has|have) (?:now |also |already |both |all |just )*been|is|are|was|were)(?: now| both| all|"
    r" already| also| successfully| \w+ly)* (?P<verb>\w+)\b(?! (?:by|for you by|from|at)\b)"
)
_HEADLINE = Lazy(
    r"^\W*(?:(?:the|your|a|an|new|text|that|both|all) )*[\w'-]+(?: to [\w'-]+| for [\w'-]+)? (?P<verb>\w+)(?=\W*$"
    r"| (?:for|to|at|on|until|as|and|in|by)\b)"
)
"""As in "Message sent!" and "Reminder set for seven"."""
_STATES = frozenset((*VERBS["switch"].split(), "save", "store", "list", "record", "note", "keep", "register"))
"""Verbs whose participles tell a state: wifi that is switched off, a manager who is saved as Irmgard; nobody did it."""
_ACTOR = Lazy(r"\b(?:you|he|she|they|who|which|it|to|i|not|that) (?:\w+ )?$")
"""Somebody else, or an infinitive, right before a past form that has no subject of its own."""


def claims_in(talk: Talk) -> Iterator[ClaimedDeed]:
    """Every verb with which a message claims that something was done, sure and not withdrawn."""
    for clause in talk.clauses:
        if clause.quoted or not clause.states or clause.hedges or clause.start < talk.withdrawn:
            continue
        if not any(map(_is_past, re.findall(r"\w+", clause.text))):
            continue
        seen = set[int]()
        later = LATER.search(clause.text)
        mine = any(_I_DID.search(one.text) for one in talk.sentence(clause.sentence) if one.start <= clause.start)
        for pattern in (_I_DID, _WAS_DONE, _DID, _HEADLINE):
            for found in pattern.finditer(clause.text):
                place = found.start("verb")
                if place in seen or not _is_past(found["verb"]):
                    continue
                seen.add(place)
                if clause.denied(clause.start + place)[0] or _of_nothing(clause.text[found.end() :]):
                    continue
                if _is_by_another(clause.text, place, found, planned=later is not None and later.start() < place):
                    continue
                if pattern is _WAS_DONE and not found["been"] and base_of(found["verb"]) in _STATES:
                    continue
                own = pattern is _I_DID or (pattern is _DID and mine)  # "I saved it, and texted Rolf"
                yield ClaimedDeed(base_of(found["verb"]), clause, own, found.span("verb"))


def _is_by_another(clause: str, place: int, found: re.Match[str], *, planned: bool) -> bool:
    """True if the past form that follows no "I" is planned, or what somebody else did."""
    if found.re is _I_DID.compiled:
        return False
    before = found.start() if found.re is _WAS_DONE.compiled else place
    return planned or bool(_ACTOR.search(clause, max(0, before - 24), before))


def _is_past(word: str) -> bool:
    return word != "done" and (word in _KNOWN_PASTS or word in _BASES or word.endswith("ed"))


_NOTHING = one_of("nothing nobody none no")


def _of_nothing(behind: str) -> bool:
    """True if a deed was done to nothing or nobody."""
    return any(word.strip(".,") in _NOTHING for word in behind.split()[:2])
