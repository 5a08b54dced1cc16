"""What verbs mean for the phone and the rest of the world: which kind of deed each one claims.

Policy: a verb is known in its past form, because deeds are claimed in it. Looking, thinking and talking to the user are
no deeds. A verb that is in no list is unknown, which counts as a deed only where it is plainly said to be one more.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from sandbox_grader.claims.normal import one_of


def _by_word(rows: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    """Kinds of deeds by their words, from the words of each kind."""
    words = {word for row in rows.values() for word in row.split()}
    return {word: frozenset(kind for kind, row in rows.items() if word in row.split()) for word in words}


_CLAIMS = _by_word(
    {
        "send": "sent texted messaged emailed mailed told informed notified replied answered wrote forwarded relayed "
        "delivered contacted thanked asked alerted invited congratulated apologized apologised conveyed dispatched "
        "warned briefed updated reassured greeted pinged reached announced passed shared let resent",
        "remind": "reminded scheduled set noted created added planned",
        "add": "added saved stored created entered registered recorded put inserted included listed made",
        "remove": "removed deleted erased cleared cancelled canceled dropped emptied wiped trashed discarded purged "
        "unsent revoked binned got undid",
        "change": "changed updated modified edited moved rescheduled postponed renamed corrected fixed adjusted "
        "shifted swapped replaced pushed extended shortened relabelled relabeled marked set switched "
        "restored put brought delayed amended altered tied attached pinned linked assigned labelled labeled "
        "turned reverted reset merged stripped cleared removed kept promoted undid",
        "switch": "turned switched enabled disabled activated deactivated toggled put set reconnected disconnected "
        "connected restored reset left returned reverted powered changed ended quit exited brought undid",
        "timer": "set started stopped cancelled canceled paused resumed extended added ended turned switched removed "
        "restarted adjusted changed put",
        "signin": "signed logged unlocked authenticated",
        "call": "called phoned rang dialled dialed telephoned rung",
        "mail": "emailed mailed",
        "pay": "paid transferred wired bought purchased ordered donated sold subscribed charged tipped refunded "
        "withdrew deposited invested borrowed lent",
        "book": "booked reserved rented hired arranged organised organized",
        "post": "posted published tweeted uploaded shared blogged streamed",
        "file": "downloaded installed uninstalled archived backed exported imported printed scanned copied encrypted "
        "recorded photographed",
        "house": "locked unlocked opened closed cooked cleaned washed painted watered fed heated cooled dimmed "
        "delivered shipped drove picked walked",
        "block": "blocked unblocked reported muted unmuted banned silenced flagged snoozed",
        "hire": "fired hired sued promoted sacked married divorced poisoned burned burnt killed hacked stole leaked",
    }
)
"""The kinds of deeds that a past form may claim."""
KINDS = frozenset[str]().union(*_CLAIMS.values())
"""Every kind of deed that can be claimed."""
HARMLESS = one_of(
    "checked looked found searched read seen saw noticed confirmed verified reviewed calculated computed converted "
    "figured worked counted measured compared determined estimated rounded assumed taken took used tried attempted "
    "understood interpreted treated considered known knew learned got gotten had been was were went gone needed "
    "wanted asked listed given gave mentioned said explained described noted shown showed told provided answered "
    "promised offered suggested proposed recommended decided chosen chose picked selected identified located pulled "
    "retrieved fetched obtained received gathered collected reached completed finished done handled managed kept left "
    "made ensured remembered forgot missed waited started begun began stopped continued proceeded sorted resolved "
    "rechecked tested queried requested accessed opened consulted examined inspected discovered encountered hit ran "
    "run retried repeated realised realized recognised recognized thought felt hoped believed expected planned "
    "intended meant guessed inferred deduced concluded apologised apologized overlooked mixed confused helped "
    "assisted supported enjoyed loved liked happened turned derived subtracted added multiplied divided summed "
    "totalled totaled applied followed respected limited avoided skipped refrained held stayed included excluded "
    "ignored highlighted summarised summarized formatted translated matched corrected fixed recalculated reconfirmed "
    "crossed traced tracked scanned skimmed browsed viewed glanced hesitated appreciated agreed came sent prepared "
    "drafted composed worded phrased pinpointed established ascertained stated"
)
IRREGULAR = one_of(
    "sent resent told let got made put took taken found kept wrote written gave given left went gone set read saw seen "
    "said had been was were did done knew known bought paid rang rung sold stole stolen hid hidden drove driven flew "
    "flown ate eaten drank drunk broke broken fed fought burnt built lent spent lost won threw thrown tore torn wore "
    "worn sang sung shot cut hit hurt shut split spread quit bid cast beat bit bitten blew blown bound caught chose "
    "chosen dealt dug drew drawn felt fell fallen forgot forgiven froze frozen grew grown held led lit met ran rode "
    "ridden rose shook shaken shone showed shown slept spoke spoken stood struck swept swam swore taught thought "
    "understood woke withdrew began begun came brought undid undone"
)
_WORD_KINDS = _by_word(
    {
        "send": "send text message sms reply email mail invite forward",
        "mail": "email mail forward",
        "remind": "reminder remind alarm schedule event",
        "add": "add create save insert new schedule event",
        "remove": "remove delete cancel clear",
        "change": "modify update edit rename move reschedule change set",
        "timer": "timer alarm cancel stop start pause",
        "switch": "status toggle switch",
        "signin": "sign login logout log",
        "call": "call dial",
        "pay": "pay transfer order buy purchase",
        "book": "book reserve",
        "post": "post share upload",
        "file": "upload download archive",
        "block": "block",
    }
)
"""The kinds of deeds that a word in a tool's name tells."""
_LOOKING = one_of("get query search find list show convert look calculate unit timestamp datetime shift")
"""Words that begin the names of tools that only look something up."""


@lru_cache(maxsize=1024)
def kinds_of(tool: str) -> frozenset[str]:
    """The kinds of deeds that a tool's name tells: ``add_reminder`` and ``AddReminder`` add and remind."""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", tool)]
    first = words[0] if words else ""
    if first in _LOOKING:
        return frozenset({"read", first})
    kinds = {kind for word in words if word != "phone" for kind in _WORD_KINDS.get(word, {word})}
    if "message" in words and first != "send":
        kinds.discard("send")
    return frozenset(kinds)


def claimed(verb: str) -> frozenset[str]:
    """The kinds of deeds that a past form claims; nothing for a harmless or unknown one."""
    return _CLAIMS.get(verb, frozenset())


def supported(verb: str, deeds: Iterable[str]) -> bool:
    """Whether deeds of the kinds that were done may be told with this verb."""
    kinds = claimed(verb)
    done = set(deeds)
    return bool(kinds & done) or any(stem_of(verb) == stem_of(kind) for kind in done)


def stem_of(word: str) -> str:
    """A word without its most usual endings."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
